// One feed channel: puts datagrams into sequence, waits for lost ones, and hands each message to its book.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "order_book.h"
#include "publisher.h"
#include "wire.h"

namespace tickforge {

struct SessionStats {
    std::uint64_t datagrams = 0;   // well-formed ones, of any kind
    std::uint64_t malformed = 0;   // could not be decoded
    std::uint64_t duplicates = 0;  // held nothing new
    std::uint64_t gaps = 0;        // times the session began to wait
    std::uint64_t applied = 0;     // messages that changed a book
    std::uint64_t rejected = 0;    // messages that no book accepted
};

class FeedSession {
public:
    explicit FeedSession(Publisher& publisher) : publisher_(publisher) {}

    void on_datagram(const std::vector<std::uint8_t>& bytes);

    const SessionStats& stats() const { return stats_; }
    std::uint64_t expected_sequence() const { return expected_; }
    std::size_t pending() const { return pending_.size(); }

    // The book of a symbol, or null when no order for it was seen.
    const OrderBook* book(const std::string& symbol) const;
    std::vector<std::string> symbols() const;

private:
    void accept(const wire::Datagram& datagram);
    void drain();
    void apply(const wire::Message& message);
    bool dispatch(const wire::Message& message);
    bool add_order(const wire::Message& message);
    OrderBook* owner_of(std::uint64_t order_id) const;

    Publisher& publisher_;
    SessionStats stats_;
    std::uint64_t expected_ = 1;
    std::map<std::uint64_t, wire::Datagram> pending_;  // by first sequence number
    std::map<std::string, std::unique_ptr<OrderBook>> books_;
    std::unordered_map<std::uint64_t, OrderBook*> owners_;
};

}  // namespace tickforge
