/** Prints what a flat rate would earn on a list of order totals; kept from the pricing spike. */
public class RateProbe {
    public static void main(String[] args) {
        long total = 0;
        for (String arg : args) {
            total += Long.parseLong(arg) * 290 / 10_000;
        }
        System.out.println(total);
    }
}
