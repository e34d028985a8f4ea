package tallybridge;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;

/** Pays sellers what has matured. */
public final class PayoutScheduler {
    public static final int HOLD_DAYS = 7;
    public static final long MINIMUM_MINOR = 2_500;

    private final Ledger ledger;

    public PayoutScheduler(Ledger ledger) {
        this.ledger = ledger;
    }

    /** What a seller could be paid today; negative if the seller owes the platform. */
    public Money available(String sellerId, String currency, LocalDate today) {
        String account = Ledger.seller(sellerId);
        LocalDate matured = today.minusDays(HOLD_DAYS);
        Money total = Money.zero(currency);
        for (Ledger.Entry entry : ledger.entriesFor(account)) {
            if (!entry.amount().currency().equals(currency)) {
                continue;
            }
            if (entry.debit().equals(account)) {
                total = total.minus(entry.amount());
            } else if (!entry.date().isAfter(matured)) {
                total = total.plus(entry.amount());
            }
        }
        return total;
    }

    /** Pays every seller who has reached the minimum. Running a batch id again pays nothing twice. */
    public PayoutBatch run(String batchId, LocalDate today, String currency, Collection<String> sellerIds) {
        List<PayoutBatch.Line> lines = new ArrayList<>();
        for (String sellerId : new TreeSet<>(sellerIds)) {
            Money amount = available(sellerId, currency, today);
            if (amount.minor() < MINIMUM_MINOR) {
                continue;
            }
            String reference = "payout:" + batchId + ":" + sellerId;
            if (ledger.post(reference, today, Ledger.seller(sellerId), Ledger.CASH, amount, "payout " + batchId)) {
                lines.add(new PayoutBatch.Line(sellerId, amount));
            }
        }
        return new PayoutBatch(batchId, today, currency, lines);
    }
}
