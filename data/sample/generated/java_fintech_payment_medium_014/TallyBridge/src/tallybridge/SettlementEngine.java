package tallybridge;

import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;

/** Captures orders and settles them to their sellers. */
public final class SettlementEngine {
    private final Ledger ledger;
    private final FeeSchedule fees;
    private final Map<String, Order> orders = new LinkedHashMap<>();

    public SettlementEngine(Ledger ledger, FeeSchedule fees) {
        this.ledger = ledger;
        this.fees = fees;
    }

    /** Records a buyer's payment. Capturing an order a second time returns the first one. */
    public Order capture(String orderId, String sellerId, Money gross, LocalDate date) {
        Order known = orders.get(orderId);
        if (known != null) {
            return known;
        }
        Order order = new Order(orderId, sellerId, gross);
        ledger.post("capture:" + orderId, date, Ledger.CASH, Ledger.CLEARING, gross, "payment " + orderId);
        orders.put(orderId, order);
        return order;
    }

    /** Settles one order; an order that is settled already is left alone. */
    public void settle(String orderId, LocalDate date) {
        Order order = order(orderId);
        if (order.status() != Order.Status.CAPTURED) {
            return;
        }
        String account = Ledger.seller(order.sellerId());
        Money fee = fees.feeFor(order.gross(), monthlyVolume(order.sellerId(), order.gross().currency(), date));
        ledger.post("settle:" + orderId, date, Ledger.CLEARING, account, order.gross(), "order " + orderId);
        ledger.post("fee:" + orderId, date, account, Ledger.FEES, fee, "fee for " + orderId);
        order.markSettled(date, fee);
    }

    /** Settles every captured order in the order of capture and returns how many there were. */
    public int settleAll(LocalDate date) {
        int settled = 0;
        for (Order order : orders.values()) {
            if (order.status() == Order.Status.CAPTURED) {
                settle(order.id(), date);
                settled++;
            }
        }
        return settled;
    }

    public Order order(String orderId) {
        Order order = orders.get(orderId);
        if (order == null) {
            throw new NoSuchElementException("no such order: " + orderId);
        }
        return order;
    }

    public Map<String, Order> orders() {
        return orders;
    }

    private Money monthlyVolume(String sellerId, String currency, LocalDate date) {
        Money volume = Money.zero(currency);
        for (Order order : orders.values()) {
            if (order.sellerId().equals(sellerId)
                && order.gross().currency().equals(currency)
                && order.settledOn() != null
                && order.settledOn().getMonth() == date.getMonth()) {
                volume = volume.plus(order.gross());
            }
        }
        return volume;
    }
}
