package tallybridge;

import java.time.LocalDate;

/** One captured buyer payment and what has happened to it since. */
public final class Order {
    public enum Status { CAPTURED, SETTLED, PARTLY_REFUNDED, REFUNDED }

    private final String id;
    private final String sellerId;
    private final Money gross;
    private Status status = Status.CAPTURED;
    private LocalDate settledOn;
    private Money fee;
    private Money refunded;

    public Order(String id, String sellerId, Money gross) {
        if (!gross.isPositive()) {
            throw new IllegalArgumentException("order " + id + " has no positive amount");
        }
        this.id = id;
        this.sellerId = sellerId;
        this.gross = gross;
        this.fee = Money.zero(gross.currency());
        this.refunded = Money.zero(gross.currency());
    }

    void markSettled(LocalDate date, Money chargedFee) {
        status = Status.SETTLED;
        settledOn = date;
        fee = chargedFee;
    }

    void markRefunded(Money amount) {
        refunded = refunded.plus(amount);
        status = refunded.equals(gross) ? Status.REFUNDED : Status.PARTLY_REFUNDED;
    }

    /** What can still be refunded. */
    public Money refundable() {
        return gross.minus(refunded);
    }

    public String id() {
        return id;
    }

    public String sellerId() {
        return sellerId;
    }

    public Money gross() {
        return gross;
    }

    public Status status() {
        return status;
    }

    /** The settlement date, or null while the order is only captured. */
    public LocalDate settledOn() {
        return settledOn;
    }

    public Money fee() {
        return fee;
    }

    public Money refunded() {
        return refunded;
    }
}
