package tallybridge;

import java.util.Set;

/** An amount in the minor unit of one currency. */
public record Money(long minor, String currency) implements Comparable<Money> {
    private static final Set<String> SUPPORTED = Set.of("EUR", "USD", "JPY");

    public Money {
        if (!SUPPORTED.contains(currency)) {
            throw new IllegalArgumentException("unsupported currency: " + currency);
        }
    }

    public static Money zero(String currency) {
        return new Money(0, currency);
    }

    public Money plus(Money other) {
        requireSameCurrency(other);
        return new Money(Math.addExact(minor, other.minor), currency);
    }

    public Money minus(Money other) {
        requireSameCurrency(other);
        return new Money(Math.subtractExact(minor, other.minor), currency);
    }

    public Money min(Money other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The given share of this amount in hundredths of a percent, rounded half up. */
    public Money basisPoints(int points) {
        long scaled = Math.addExact(Math.multiplyExact(minor, points), 5_000);
        return new Money(Math.floorDiv(scaled, 10_000), currency);
    }

    public boolean isPositive() {
        return minor > 0;
    }

    @Override
    public int compareTo(Money other) {
        requireSameCurrency(other);
        return Long.compare(minor, other.minor);
    }

    private void requireSameCurrency(Money other) {
        if (!currency.equals(other.currency)) {
            throw new IllegalArgumentException("cannot mix " + currency + " and " + other.currency);
        }
    }
}
