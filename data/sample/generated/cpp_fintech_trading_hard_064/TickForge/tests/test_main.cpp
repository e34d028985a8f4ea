// Unit tests of the decoder, the book, the session and the publisher; exit code 1 when a check fails.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "feed_session.h"

using namespace tickforge;

namespace {

int failures = 0;

void check(bool condition, const char* what) {
    if (condition) return;
    ++failures;
    std::printf("FAILED: %s\n", what);
}

using Bytes = std::vector<std::uint8_t>;

template <typename Integer>
void put(Bytes& out, Integer value) {
    for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8)
        out.push_back(static_cast<std::uint8_t>(value >> shift));
}

Bytes message(char type, const Bytes& body) {
    Bytes out;
    put<std::uint16_t>(out, static_cast<std::uint16_t>(body.size() + wire::kPrefixSize));
    out.push_back(static_cast<std::uint8_t>(type));
    out.insert(out.end(), body.begin(), body.end());
    return out;
}

Bytes add(std::uint64_t id, std::string symbol, char side, std::uint32_t quantity, std::uint32_t price) {
    Bytes body;
    put(body, id);
    symbol.resize(wire::kSymbolSize, ' ');
    body.insert(body.end(), symbol.begin(), symbol.end());
    body.push_back(static_cast<std::uint8_t>(side));
    put(body, quantity);
    put(body, price);
    return message('A', body);
}

Bytes reduce(char type, std::uint64_t id, std::uint32_t quantity) {
    Bytes body;
    put(body, id);
    put(body, quantity);
    return message(type, body);
}

Bytes remove(std::uint64_t id) {
    Bytes body;
    put(body, id);
    return message('D', body);
}

Bytes replace(std::uint64_t id, std::uint64_t new_id, std::uint32_t quantity, std::uint32_t price) {
    Bytes body;
    put(body, id);
    put(body, new_id);
    put(body, quantity);
    put(body, price);
    return message('U', body);
}

Bytes datagram(std::uint64_t first_sequence, const std::vector<Bytes>& messages) {
    Bytes out;
    put(out, wire::kMagic);
    put<std::uint16_t>(out, static_cast<std::uint16_t>(messages.size()));
    put(out, first_sequence);
    for (const auto& one : messages) out.insert(out.end(), one.begin(), one.end());
    return out;
}

// A session whose quotes are kept.
struct Rig {
    std::vector<Quote> quotes;
    Publisher publisher{[this](const Quote& quote) { quotes.push_back(quote); }};
    FeedSession session{publisher};
};

void decodes_an_add() {
    const auto decoded = wire::decode(datagram(7, {add(42, "ACME", 'B', 300, 100200)}));
    check(decoded && decoded->first_sequence == 7 && decoded->messages.size() == 1, "one message from sequence 7");
    const auto& only = decoded->messages[0];
    check(only.order_id == 42 && only.symbol == "ACME" && only.side == 'B', "id, symbol and side of an add");
    check(only.quantity == 300 && only.price == 100200, "quantity and price of an add");
}

void refuses_a_wrong_magic() {
    auto bytes = datagram(1, {});
    bytes[0] = 0;
    check(!wire::decode(bytes), "a wrong magic is malformed");
}

void keeps_levels_by_price() {
    Rig rig;
    OrderBook book("ACME", rig.publisher);
    book.add(1, 'B', 100, 100100);
    book.add(2, 'B', 200, 100200);
    book.add(3, 'B', 50, 100100);
    const auto bids = book.depth('B', 5);
    check(bids.size() == 2 && bids[0].price == 100200 && bids[1].quantity == 150, "bids best first, summed by price");
    check(!book.add(4, 'S', 10, 100255), "a price between two ticks is refused");
}

void reduces_and_removes_orders() {
    Rig rig;
    OrderBook book("ACME", rig.publisher);
    book.add(1, 'S', 100, 100300);
    check(book.execute(1, 40) && book.order(1)->open == 60 && book.traded() == 40, "an execution takes its part");
    check(!book.execute(1, 61), "no execution beyond what is open");
    check(book.cancel(1, 10) && book.best_ask()->quantity == 50, "a cancel takes its part");
    check(book.remove(1) && !book.best_ask() && book.order_count() == 0, "a removed order leaves nothing");
}

void replaces_an_order() {
    Rig rig;
    OrderBook book("ACME", rig.publisher);
    book.add(1, 'B', 100, 100100);
    check(book.replace(1, 2, 80, 100200), "replace is applied");
    check(!book.order(1) && book.order(2)->side == 'B', "the new id takes over the side");
    check(book.depth('B', 5).size() == 1 && book.best_bid()->quantity == 80, "only the new level is left");
}

void fills_a_gap() {
    Rig rig;
    rig.session.on_datagram(datagram(1, {add(1, "ACME", 'B', 100, 100100)}));
    rig.session.on_datagram(datagram(3, {remove(1)}));
    check(rig.session.pending() == 1 && rig.session.expected_sequence() == 2, "waits for sequence 2");
    rig.session.on_datagram(datagram(2, {reduce('E', 1, 30)}));
    check(rig.session.pending() == 0 && rig.session.expected_sequence() == 4, "goes on once 2 is there");
    check(rig.session.stats().gaps == 1 && rig.session.stats().applied == 3, "one gap, three messages");
}

void ignores_repeated_datagrams() {
    Rig rig;
    const auto first = datagram(1, {add(1, "ACME", 'B', 100, 100100), replace(1, 2, 90, 100100)});
    rig.session.on_datagram(first);
    rig.session.on_datagram(first);
    check(rig.session.stats().duplicates == 1 && rig.session.stats().applied == 2, "a repeat changes nothing");
}

void publishes_a_new_top() {
    Rig rig;
    rig.session.on_datagram(datagram(1, {add(1, "ACME", 'B', 100, 100100), add(2, "ACME", 'S', 70, 100300)}));
    check(rig.quotes.size() == 2, "one quote for each new top");
    check(to_csv(rig.quotes.back()) == "ACME,10.0100,100,10.0300,70", "quote as CSV");
    rig.session.on_datagram(datagram(3, {add(3, "ACME", 'B', 5, 99900)}));
    check(rig.quotes.size() == 2 && rig.publisher.suppressed() == 1, "nothing new below the top");
}

}  // namespace

int main() {
    decodes_an_add();
    refuses_a_wrong_magic();
    keeps_levels_by_price();
    reduces_and_removes_orders();
    replaces_an_order();
    fills_a_gap();
    ignores_repeated_datagrams();
    publishes_a_new_top();
    if (failures == 0) std::puts("all tests passed");
    return failures == 0 ? 0 : 1;
}
