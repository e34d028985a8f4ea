// tickforge replay: feeds a captured channel through a session, prints its quotes and the final depth.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "feed_session.h"
#include "publisher.h"

namespace {

struct Options {
    std::string capture;
    std::string symbol;  // empty: all of them
    std::size_t depth = 0;
};

constexpr const char* kUsage = "usage: tickforge replay CAPTURE [--symbol NAME] [--depth LEVELS]\n";

bool parse(int argc, char** argv, Options& options) {
    if (argc < 3 || std::string(argv[1]) != "replay") return false;
    options.capture = argv[2];
    for (int i = 3; i < argc; i += 2) {
        const std::string flag = argv[i];
        if (i + 1 == argc) return false;
        if (flag == "--symbol") {
            options.symbol = argv[i + 1];
        } else if (flag == "--depth") {
            options.depth = static_cast<std::size_t>(std::atoi(argv[i + 1]));
        } else {
            return false;
        }
    }
    return true;
}

// Reads the next record of a capture. Returns false at the end of the file.
bool next_record(std::ifstream& capture, std::vector<std::uint8_t>& record) {
    std::uint8_t prefix[4];
    if (!capture.read(reinterpret_cast<char*>(prefix), sizeof prefix)) return false;
    record.resize(tickforge::wire::read_be<std::uint32_t>(prefix));
    capture.read(reinterpret_cast<char*>(record.data()), static_cast<std::streamsize>(record.size()));
    return true;
}

void print_side(const tickforge::OrderBook& book, char side, std::size_t depth) {
    for (const auto& level : book.depth(side, depth)) {
        std::printf("%s %c %.2f %llu\n", book.symbol().c_str(), side, level.price / 10000.0,
                    static_cast<unsigned long long>(level.quantity));
    }
}

void print_depth(const tickforge::FeedSession& session, const Options& options) {
    for (const auto& symbol : session.symbols()) {
        if (!options.symbol.empty() && options.symbol != symbol) continue;
        print_side(*session.book(symbol), 'B', options.depth);
        print_side(*session.book(symbol), 'A', options.depth);
    }
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!parse(argc, argv, options)) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    std::ifstream capture(options.capture, std::ios::binary);
    if (!capture) {
        std::fprintf(stderr, "tickforge: cannot read %s\n", options.capture.c_str());
        return 2;
    }

    tickforge::Publisher publisher([&](const tickforge::Quote& quote) {
        if (options.symbol.empty() || options.symbol == quote.symbol) std::puts(tickforge::to_csv(quote).c_str());
    });
    tickforge::FeedSession session(publisher);
    std::vector<std::uint8_t> record;
    while (next_record(capture, record)) session.on_datagram(record);
    if (options.depth > 0) print_depth(session, options);

    const auto& stats = session.stats();
    std::fprintf(stderr, "%llu datagrams, %llu messages applied, %llu rejected, %llu gaps, %llu quotes\n",
                 static_cast<unsigned long long>(stats.datagrams), static_cast<unsigned long long>(stats.applied),
                 static_cast<unsigned long long>(stats.rejected), static_cast<unsigned long long>(stats.gaps),
                 static_cast<unsigned long long>(publisher.published()));
    return 0;
}
