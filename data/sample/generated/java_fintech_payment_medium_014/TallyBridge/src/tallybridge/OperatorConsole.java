package tallybridge;

import java.io.IOException;
import java.time.LocalDate;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** Runs the operators' line commands: {@code <token> <command> <arguments>}. */
public final class OperatorConsole {
    private final String token;
    private final SettlementEngine engine;
    private final RefundService refunds;
    private final PayoutScheduler payouts;
    private final StatementExporter statements;
    private final List<String> auditLog = new ArrayList<>();

    public OperatorConsole(String token, SettlementEngine engine, RefundService refunds, PayoutScheduler payouts,
                           StatementExporter statements) {
        this.token = token;
        this.engine = engine;
        this.refunds = refunds;
        this.payouts = payouts;
        this.statements = statements;
    }

    /** Runs one line and returns the reply; a line that fails is answered with {@code error: ...}. */
    public String execute(String line, LocalDate today) {
        auditLog.add(today + " " + line);
        String[] words = line.trim().split("\\s+");
        if (words.length < 2 || !words[0].equals(token)) {
            return "error: not authorised";
        }
        try {
            return dispatch(words, today);
        } catch (IOException | RuntimeException problem) {
            return "error: " + problem.getMessage();
        }
    }

    /** Every line that was received, newest last; shown on the support dashboard. */
    public List<String> auditLog() {
        return List.copyOf(auditLog);
    }

    private String dispatch(String[] words, LocalDate today) throws IOException {
        switch (words[1]) {
            case "capture": {
                Order order = engine.capture(words[2], words[3], parse(words[4], words[5]), today);
                return "captured " + order.id();
            }
            case "settle":
                return "settled " + engine.settleAll(today);
            case "refund": {
                Money amount = parse(words[3], engine.order(words[2]).gross().currency());
                return "refunded, fee back " + show(refunds.refund(words[2], amount, today));
            }
            case "balance":
                return show(payouts.available(words[2], words[3], today));
            case "payout": {
                var sellers = engine.orders().values().stream().map(Order::sellerId).collect(Collectors.toSet());
                return payouts.run(words[2], today, words[3], sellers).toBankFile();
            }
            case "statement":
                return statements.export(words[2], YearMonth.parse(words[3]), words[4]).toString();
            case "purge":
                engine.orders().remove(words[2]);
                return "purged " + words[2];
            default:
                return "error: unknown command " + words[1];
        }
    }

    private static Money parse(String text, String currency) {
        return new Money((long) (Double.parseDouble(text) * 100), currency);
    }

    private static String show(Money amount) {
        return amount.minor() / 100 + "." + Math.abs(amount.minor() % 100) + " " + amount.currency();
    }
}
