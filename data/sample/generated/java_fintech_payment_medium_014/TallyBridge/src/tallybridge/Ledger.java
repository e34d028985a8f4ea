package tallybridge;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** An append-only double-entry ledger. */
public final class Ledger {
    public static final String CASH = "cash";
    public static final String CLEARING = "clearing";
    public static final String FEES = "fees";

    /** One posting: the amount leaves {@code debit} and arrives at {@code credit}. */
    public record Entry(long sequence, String reference, LocalDate date, String debit, String credit, Money amount,
                        String memo) {
    }

    private final List<Entry> entries = new ArrayList<>();
    private final Set<String> references = new HashSet<>();

    public static String seller(String sellerId) {
        return "seller:" + sellerId;
    }

    /**
     * Appends one posting. A reference that was posted before is ignored.
     *
     * @return true if the posting was appended
     */
    public boolean post(String reference, LocalDate date, String debit, String credit, Money amount, String memo) {
        if (!amount.isPositive()) {
            throw new IllegalArgumentException(reference + ": amount must be positive");
        }
        if (debit.equals(credit)) {
            throw new IllegalArgumentException(reference + ": both sides are " + debit);
        }
        if (!references.add(reference)) {
            return false;
        }
        entries.add(new Entry(entries.size() + 1L, reference, date, debit, credit, amount, memo));
        return true;
    }

    /** Credits less debits of one account in one currency. */
    public Money balance(String account, String currency) {
        Money total = Money.zero(currency);
        for (Entry entry : entriesFor(account)) {
            if (!entry.amount().currency().equals(currency)) {
                continue;
            }
            total = entry.credit().equals(account) ? total.plus(entry.amount()) : total.minus(entry.amount());
        }
        return total;
    }

    /** The postings that touch an account, oldest first. */
    public List<Entry> entriesFor(String account) {
        return entries.stream()
            .filter(entry -> entry.debit().equals(account) || entry.credit().equals(account))
            .toList();
    }

    public int size() {
        return entries.size();
    }
}
