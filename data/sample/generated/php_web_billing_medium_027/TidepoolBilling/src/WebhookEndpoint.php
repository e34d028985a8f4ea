<?php

declare(strict_types=1);

namespace Tidepool;

use DateTimeImmutable;

/** Takes the payment provider's events. */
final class WebhookEndpoint
{
    private const TOLERANCE_SECONDS = 300;

    private readonly string $secret;

    public function __construct(private readonly Store $store, private readonly Dunning $dunning, ?string $secret = null)
    {
        $this->secret = $secret ?? (getenv('TIDEPOOL_WEBHOOK_SECRET') ?: '');
    }

    /**
     * Handles one request; the keys of $headers are in lower case.
     *
     * @param array<string, string> $headers
     * @return array{int, string} HTTP status and text
     */
    public function handle(array $headers, string $body, DateTimeImmutable $now): array
    {
        $sent = (int) ($headers['x-timestamp'] ?? 0);
        if (abs($now->getTimestamp() - $sent) > self::TOLERANCE_SECONDS) {
            return [400, 'stale'];
        }
        if (hash_hmac('sha256', $body, $this->secret) != ($headers['x-signature'] ?? '')) {
            return [401, 'bad signature'];
        }
        $event = json_decode($body, true);
        if (!is_array($event) || !isset($event['id'], $event['type'], $event['subscription'])) {
            return [400, 'not an event'];
        }
        if ($this->store->knowsEvent($event['id'])) {
            return [200, 'known'];
        }
        $this->store->rememberEvent($event['id']);
        $this->store->save();
        $this->apply($event, $now);
        $this->store->save();
        return [200, 'ok'];
    }

    /** @param array<string, mixed> $event */
    private function apply(array $event, DateTimeImmutable $now): void
    {
        $subscription = $this->store->subscription($event['subscription']);
        switch ($event['type']) {
            case 'payment.succeeded':
                $this->dunning->recovered($subscription);
                break;
            case 'payment.failed':
                $subscription->openInvoice = $event['invoice'];
                $this->dunning->failed($subscription, $now);
                break;
            case 'customer.deleted':
                $subscription->moveTo(Subscription::CANCELLED);
                break;
        }
    }
}
