package tallybridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The test program: runs every check and exits with 1 if one fails. */
public final class SettlementTest {
    private static final LocalDate MONDAY = LocalDate.of(2024, 3, 4);
    private static int failures = 0;

    private static final class Fixture {
        final Ledger ledger = new Ledger();
        final SettlementEngine engine = new SettlementEngine(ledger, FeeSchedule.standard());
        final RefundService refunds = new RefundService(engine, ledger);
        final PayoutScheduler payouts = new PayoutScheduler(ledger);
        final StatementExporter statements = new StatementExporter(ledger, Path.of("build", "statements"));
        final OperatorConsole console = new OperatorConsole("s3cret", engine, refunds, payouts, statements);

        void sell(String orderId, String sellerId, long minor, LocalDate date) {
            engine.capture(orderId, sellerId, eur(minor), date);
            engine.settle(orderId, date);
        }
    }

    private static Money eur(long minor) {
        return new Money(minor, "EUR");
    }

    private static void check(String what, Object expected, Object actual) {
        if (!Objects.equals(expected, actual)) {
            failures++;
            System.out.println("FAIL " + what + ": expected " + expected + ", got " + actual);
        }
    }

    private static void checkBalanced(Fixture f) {
        Money sum = eur(0);
        for (String account : List.of(Ledger.CASH, Ledger.CLEARING, Ledger.FEES, Ledger.seller("ana"))) {
            sum = sum.plus(f.ledger.balance(account, "EUR"));
        }
        check("all balances together", eur(0), sum);
    }

    private static void moneyRoundsHalfUp() {
        check("2.90 % of 50.00", eur(145), eur(5_000).basisPoints(290));
        check("2.90 % of 0.17", eur(0), eur(17).basisPoints(290));
        check("2.90 % of 0.18", eur(1), eur(18).basisPoints(290));
    }

    private static void settlementChargesTheFee() {
        Fixture f = new Fixture();
        f.sell("o1", "ana", 10_000, MONDAY);
        check("seller", eur(9_680), f.ledger.balance(Ledger.seller("ana"), "EUR"));
        check("fees", eur(320), f.ledger.balance(Ledger.FEES, "EUR"));
        checkBalanced(f);
    }

    private static void volumeLowersTheRate() {
        Fixture f = new Fixture();
        f.sell("o1", "ana", 1_000_000, MONDAY);
        f.sell("o2", "ana", 10_000, MONDAY);
        check("second fee", eur(270), f.engine.order("o2").fee());
    }

    private static void smallOrderPaysNoMoreThanItself() {
        check("fee of 0.20", eur(20), FeeSchedule.standard().feeFor(eur(20), eur(0)));
    }

    private static void fullRefundReturnsTheFee() {
        Fixture f = new Fixture();
        f.sell("o1", "ana", 10_000, MONDAY);
        check("fee back", eur(320), f.refunds.refund("o1", eur(10_000), MONDAY.plusDays(1)));
        check("seller", eur(0), f.ledger.balance(Ledger.seller("ana"), "EUR"));
        check("status", Order.Status.REFUNDED, f.engine.order("o1").status());
        checkBalanced(f);
    }

    private static void payoutWaitsForTheHold() {
        Fixture f = new Fixture();
        f.sell("o1", "ana", 10_000, MONDAY);
        check("day 6", 0, f.payouts.run("b1", MONDAY.plusDays(6), "EUR", Set.of("ana")).lines().size());
        PayoutBatch batch = f.payouts.run("b2", MONDAY.plusDays(7), "EUR", Set.of("ana"));
        check("file", "H|b2|20240311\nP|ana|96.80\nT|1|96.80\n", batch.toBankFile());
        check("again", 0, f.payouts.run("b2", MONDAY.plusDays(7), "EUR", Set.of("ana")).lines().size());
        checkBalanced(f);
    }

    private static void statementListsTheMonth() throws IOException {
        Fixture f = new Fixture();
        f.sell("o1", "ana", 10_000, MONDAY);
        Path file = Path.of(f.console.execute("s3cret statement ana 2024-03 EUR", MONDAY));
        List<String> lines = Files.readAllLines(file);
        check("first line", "2024-03-04,settle:o1,order o1,100.00", lines.get(1));
        check("second line", "2024-03-04,fee:o1,fee for o1,-3.20", lines.get(2));
    }

    private static void consoleChecksTheToken() {
        Fixture f = new Fixture();
        check("reply", "error: not authorised", f.console.execute("guess settle", MONDAY));
        check("captured", "captured o1", f.console.execute("s3cret capture o1 ana 100.00 EUR", MONDAY));
        check("settled", "settled 1", f.console.execute("s3cret settle", MONDAY));
    }

    public static void main(String[] args) throws IOException {
        moneyRoundsHalfUp();
        settlementChargesTheFee();
        volumeLowersTheRate();
        smallOrderPaysNoMoreThanItself();
        fullRefundReturnsTheFee();
        payoutWaitsForTheHold();
        statementListsTheMonth();
        consoleChecksTheToken();
        System.out.println(failures == 0 ? "all checks passed" : failures + " checks failed");
        System.exit(failures == 0 ? 0 : 1);
    }
}
