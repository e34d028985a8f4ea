package tallybridge;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.util.Locale;

/** Writes a seller's monthly statement as a CSV file. */
public final class StatementExporter {
    private static final long STATEMENT_FEE_MINOR = 150;

    private final Ledger ledger;
    private final Path folder;

    public StatementExporter(Ledger ledger, Path folder) {
        this.ledger = ledger;
        this.folder = folder;
    }

    /** Writes the statement and returns the file's path. */
    public Path export(String sellerId, YearMonth month, String currency) throws IOException {
        String account = Ledger.seller(sellerId);
        Money charge = new Money(STATEMENT_FEE_MINOR, currency);
        ledger.post("statement:" + sellerId + ":" + month, month.atEndOfMonth(), account, Ledger.FEES, charge,
            "statement " + month);
        StringBuilder csv = new StringBuilder("date,reference,memo,amount\n");
        for (Ledger.Entry entry : ledger.entriesFor(account)) {
            if (!YearMonth.from(entry.date()).equals(month) || !entry.amount().currency().equals(currency)) {
                continue;
            }
            double amount = entry.amount().minor() / 100.0;
            if (entry.debit().equals(account)) {
                amount = -amount;
            }
            csv.append(entry.date()).append(',').append(entry.reference()).append(',').append(entry.memo()).append(',')
                .append(String.format(Locale.ROOT, "%.2f", amount)).append('\n');
        }
        Files.createDirectories(folder);
        Path file = folder.resolve(sellerId + "-" + month + ".csv");
        Files.writeString(file, csv.toString());
        return file;
    }
}
