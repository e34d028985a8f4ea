<?php

declare(strict_types=1);

namespace Tidepool;

use DateTimeImmutable;

/** What happens after a failed payment: retries, recovery, the end. */
final class Dunning
{
    /** Days after the first failure on which the payment is tried again. */
    private const RETRY_DAYS = [1, 3, 7];

    public function __construct(private readonly Store $store, private readonly PaymentGateway $gateway)
    {
    }

    /** Notes a failure and plans the next attempt. */
    public function failed(Subscription $subscription, DateTimeImmutable $now): void
    {
        if ($subscription->failures === 0) {
            $subscription->firstFailure = $now;
        }
        $subscription->failures++;
        $days = self::RETRY_DAYS[$subscription->failures - 1] ?? null;
        if ($days === null) {
            $subscription->status = Subscription::CANCELLED;
            $subscription->nextRetry = null;
            return;
        }
        $subscription->status = Subscription::PAST_DUE;
        $subscription->nextRetry = $subscription->firstFailure->modify("+{$days} days");
    }

    /** Settles the open invoice and returns the subscription to good standing. */
    public function recovered(Subscription $subscription): void
    {
        if ($subscription->openInvoice !== null) {
            $this->store->invoice($subscription->openInvoice)->paid = true;
        }
        $subscription->status = Subscription::ACTIVE;
        $subscription->failures = 0;
        $subscription->firstFailure = null;
        $subscription->nextRetry = null;
        $subscription->openInvoice = null;
    }

    /** Tries every open payment whose time has come; returns how many were tried. */
    public function retryDue(DateTimeImmutable $now): int
    {
        $tried = 0;
        foreach ($this->store->subscriptions() as $subscription) {
            if ($subscription->nextRetry === null || $subscription->nextRetry > $now) {
                continue;
            }
            $invoice = $this->store->invoice($subscription->openInvoice);
            if ($this->gateway->charge($subscription->customer, $invoice->total(), $invoice->number)) {
                $this->recovered($subscription);
            } else {
                $this->failed($subscription, $now);
            }
            $tried++;
        }
        $this->store->save();
        return $tried;
    }
}
