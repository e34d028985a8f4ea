package tallybridge;

import java.time.LocalDate;

/** Takes money back from a seller and returns it to the buyer. */
public final class RefundService {
    private final SettlementEngine engine;
    private final Ledger ledger;

    public RefundService(SettlementEngine engine, Ledger ledger) {
        this.engine = engine;
        this.ledger = ledger;
    }

    /**
     * Refunds part or all of a settled order and returns the matching share of the fee to the seller.
     *
     * @return the share of the fee that was returned
     */
    public Money refund(String orderId, Money amount, LocalDate date) {
        Order order = engine.order(orderId);
        if (order.status() == Order.Status.CAPTURED) {
            throw new IllegalStateException("order " + orderId + " is not settled yet");
        }
        if (!amount.isPositive() || amount.compareTo(order.refundable()) > 0) {
            throw new IllegalArgumentException("order " + orderId + " can refund at most " + order.refundable());
        }
        String account = Ledger.seller(order.sellerId());
        Money feeShare = feeShare(order, amount);
        ledger.post("refund:" + orderId, date, account, Ledger.CASH, amount, "refund " + orderId);
        if (feeShare.isPositive()) {
            ledger.post("refund-fee:" + orderId, date, Ledger.FEES, account, feeShare, "fee back " + orderId);
        }
        order.markRefunded(amount);
        return feeShare;
    }

    private static Money feeShare(Order order, Money amount) {
        long minor = amount.minor() * order.fee().minor() / order.gross().minor();
        return new Money(minor, amount.currency());
    }
}
