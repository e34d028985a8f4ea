#include "feed_session.h"

#include <utility>

namespace tickforge {

void FeedSession::on_datagram(const std::vector<std::uint8_t>& bytes) {
    auto datagram = wire::decode(bytes);
    if (!datagram) {
        ++stats_.malformed;
        return;
    }
    ++stats_.datagrams;
    if (datagram->first_sequence > expected_) {
        if (pending_.empty()) ++stats_.gaps;
        pending_.emplace(datagram->first_sequence, std::move(*datagram));
        return;
    }
    accept(*datagram);
    drain();
}

const OrderBook* FeedSession::book(const std::string& symbol) const {
    const auto it = books_.find(symbol);
    return it == books_.end() ? nullptr : it->second.get();
}

std::vector<std::string> FeedSession::symbols() const {
    std::vector<std::string> names;
    for (const auto& entry : books_) names.push_back(entry.first);
    return names;
}

// Applies what is new in a datagram that starts at the expected sequence number or before it.
void FeedSession::accept(const wire::Datagram& datagram) {
    if (datagram.end_sequence() <= expected_) {
        ++stats_.duplicates;
        return;
    }
    for (auto i = expected_ - datagram.first_sequence; i < datagram.messages.size(); ++i) apply(datagram.messages[i]);
    expected_ = datagram.end_sequence();
}

void FeedSession::drain() {
    while (!pending_.empty() && pending_.begin()->first <= expected_) {
        accept(pending_.begin()->second);
        pending_.erase(pending_.begin());
    }
}

void FeedSession::apply(const wire::Message& message) {
    if (dispatch(message)) {
        ++stats_.applied;
    } else {
        ++stats_.rejected;
    }
}

bool FeedSession::dispatch(const wire::Message& message) {
    if (message.type == wire::MessageType::Add) return add_order(message);
    OrderBook* book = owner_of(message.order_id);
    if (book == nullptr) return false;
    switch (message.type) {
        case wire::MessageType::Execute:
            return book->execute(message.order_id, message.quantity);
        case wire::MessageType::Cancel:
            return book->cancel(message.order_id, message.quantity);
        case wire::MessageType::Delete:
            if (!book->remove(message.order_id)) return false;
            owners_.erase(message.order_id);
            return true;
        case wire::MessageType::Replace:
            if (!book->replace(message.order_id, message.new_order_id, message.quantity, message.price)) return false;
            owners_.erase(message.order_id);
            owners_[message.new_order_id] = book;
            return true;
        default:
            return false;
    }
}

bool FeedSession::add_order(const wire::Message& message) {
    if (message.side != 'B' && message.side != 'S') return false;
    auto& book = books_[message.symbol];
    if (!book) book = std::make_unique<OrderBook>(message.symbol, publisher_);
    if (!book->add(message.order_id, message.side, message.quantity, message.price)) return false;
    owners_[message.order_id] = book.get();
    return true;
}

OrderBook* FeedSession::owner_of(std::uint64_t order_id) const {
    const auto it = owners_.find(order_id);
    return it == owners_.end() ? nullptr : it->second;
}

}  // namespace tickforge
