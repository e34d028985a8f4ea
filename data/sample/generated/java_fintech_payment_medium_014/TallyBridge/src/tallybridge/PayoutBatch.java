package tallybridge;

import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** The payouts of one run, and the file that the bank takes. */
public record PayoutBatch(String batchId, LocalDate date, String currency, List<Line> lines) {
    public record Line(String sellerId, Money amount) {
    }

    public PayoutBatch {
        lines = List.copyOf(lines);
    }

    public Money total() {
        Money total = Money.zero(currency);
        for (Line line : lines) {
            total = total.plus(line.amount());
        }
        return total;
    }

    /** A header, one line a payout, and a trailer with the count and the control sum. */
    public String toBankFile() {
        StringBuilder file = new StringBuilder();
        file.append("H|").append(batchId).append('|').append(date.format(DateTimeFormatter.BASIC_ISO_DATE)).append('\n');
        for (Line line : lines) {
            file.append("P|").append(line.sellerId()).append('|').append(decimal(line.amount())).append('\n');
        }
        file.append("T|").append(lines.size()).append('|').append(decimal(total())).append('\n');
        return file.toString();
    }

    private static String decimal(Money amount) {
        return String.format("%d.%02d", amount.minor() / 100, amount.minor() % 100);
    }
}
