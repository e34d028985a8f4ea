// Top-of-book quotes: what changed at the top of a book goes to the subscribers' sink, once.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "order_book.h"

namespace tickforge {

struct Quote {
    std::string symbol;
    std::uint32_t bid_price = 0;
    std::uint64_t bid_size = 0;
    std::uint32_t ask_price = 0;
    std::uint64_t ask_size = 0;
};

// One line of CSV without its line end: symbol, bid price, bid size, ask price, ask size.
inline std::string to_csv(const Quote& quote) {
    const auto price = [](std::uint32_t value) {
        char text[24];
        std::snprintf(text, sizeof text, "%u.%04u", value / 10000, value % 10000);
        return std::string(text);
    };
    return quote.symbol + ',' + price(quote.bid_price) + ',' + std::to_string(quote.bid_size) + ',' +
           price(quote.ask_price) + ',' + std::to_string(quote.ask_size);
}

class Publisher {
public:
    using Sink = std::function<void(const Quote&)>;

    explicit Publisher(Sink sink) : sink_(std::move(sink)) {}

    void on_book(const std::string& symbol, const std::optional<Level>& bid, const std::optional<Level>& ask) {
        Quote quote;
        quote.symbol = symbol;
        if (bid) quote.bid_price = bid->price, quote.bid_size = bid->quantity;
        if (ask) quote.ask_price = ask->price, quote.ask_size = ask->quantity;
        const auto [it, fresh] = last_.try_emplace(symbol, quote);
        if (!fresh && same_top(it->second, quote)) {
            ++suppressed_;
            return;
        }
        it->second = quote;
        ++published_;
        sink_(quote);
    }

    std::uint64_t published() const { return published_; }
    std::uint64_t suppressed() const { return suppressed_; }

private:
    static bool same_top(const Quote& a, const Quote& b) {
        return a.bid_price == b.bid_price && a.ask_price == b.ask_price;
    }

    Sink sink_;
    std::unordered_map<std::string, Quote> last_;
    std::uint64_t published_ = 0;
    std::uint64_t suppressed_ = 0;
};

}  // namespace tickforge
