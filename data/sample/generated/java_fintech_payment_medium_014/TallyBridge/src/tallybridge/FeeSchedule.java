package tallybridge;

import java.util.List;

/** What the platform keeps of an order, by the seller's volume in the month. */
public final class FeeSchedule {
    /** From {@code fromMinor} of monthly volume upward the rate is {@code basisPoints}. */
    public record Tier(long fromMinor, int basisPoints) {
    }

    private static final List<Tier> STANDARD = List.of(
        new Tier(0, 290),
        new Tier(1_000_000, 240),
        new Tier(5_000_000, 190));
    private static final long FIXED_MINOR = 30;

    private final List<Tier> tiers;

    public FeeSchedule(List<Tier> tiers) {
        if (tiers.isEmpty() || tiers.get(0).fromMinor() != 0) {
            throw new IllegalArgumentException("the first tier must start at 0");
        }
        this.tiers = List.copyOf(tiers);
    }

    public static FeeSchedule standard() {
        return new FeeSchedule(STANDARD);
    }

    /** The fee of an order for a seller who has settled {@code volume} this month before it. */
    public Money feeFor(Money gross, Money volume) {
        int rate = 0;
        for (Tier tier : tiers) {
            if (volume.minor() >= tier.fromMinor()) {
                rate = tier.basisPoints();
            }
        }
        Money fee = gross.basisPoints(rate).plus(new Money(FIXED_MINOR, gross.currency()));
        return fee.min(gross);
    }
}
