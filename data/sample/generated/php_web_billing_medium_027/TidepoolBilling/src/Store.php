<?php

declare(strict_types=1);

namespace Tidepool;

/** Keeps subscriptions, invoices and known events in one JSON file. */
final class Store
{
    private const KNOWN_EVENTS = 200;

    /** @var array<string, Subscription> */
    private array $subscriptions = [];

    /** @var array<string, Invoice> */
    private array $invoices = [];

    /** @var list<string> */
    private array $events = [];

    private int $lastNumber = 0;

    public function __construct(private readonly string $path)
    {
        if (!is_file($path)) {
            return;
        }
        $data = json_decode((string) file_get_contents($path), true, 512, JSON_THROW_ON_ERROR);
        $this->subscriptions = array_map(Subscription::fromArray(...), $data['subscriptions']);
        $this->invoices = array_map(Invoice::fromArray(...), $data['invoices']);
        $this->events = $data['events'];
        $this->lastNumber = $data['lastNumber'];
    }

    public function nextNumber(string $prefix): string
    {
        return sprintf('%s-%05d', $prefix, ++$this->lastNumber);
    }

    public function subscription(string $id): Subscription
    {
        return $this->subscriptions[$id] ?? throw new \DomainException("unknown subscription {$id}");
    }

    /** @return array<string, Subscription> */
    public function subscriptions(): array
    {
        return $this->subscriptions;
    }

    public function addSubscription(Subscription $subscription): void
    {
        $this->subscriptions[$subscription->id] = $subscription;
    }

    public function invoice(string $number): Invoice
    {
        return $this->invoices[$number] ?? throw new \DomainException("unknown invoice {$number}");
    }

    /** @return list<Invoice> */
    public function invoicesOf(string $subscriptionId): array
    {
        return array_values(array_filter($this->invoices, fn (Invoice $invoice) => $invoice->subscription === $subscriptionId));
    }

    public function addInvoice(Invoice $invoice): void
    {
        $this->invoices[$invoice->number] = $invoice;
    }

    public function knowsEvent(string $id): bool
    {
        return in_array($id, $this->events, true);
    }

    public function rememberEvent(string $id): void
    {
        $this->events = array_slice([...$this->events, $id], -self::KNOWN_EVENTS);
    }

    /** Writes everything to the file; a reader sees the old or the new state, never half of one. */
    public function save(): void
    {
        $data = [
            'subscriptions' => array_map(fn (Subscription $subscription) => $subscription->toArray(), $this->subscriptions),
            'invoices' => array_map(fn (Invoice $invoice) => $invoice->toArray(), $this->invoices),
            'events' => $this->events,
            'lastNumber' => $this->lastNumber,
        ];
        file_put_contents("{$this->path}.new", json_encode($data, JSON_THROW_ON_ERROR | JSON_PRETTY_PRINT));
        rename("{$this->path}.new", $this->path);
    }
}
