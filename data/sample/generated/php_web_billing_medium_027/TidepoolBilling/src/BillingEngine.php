<?php

declare(strict_types=1);

namespace Tidepool;

use DateTimeImmutable;

interface PaymentGateway
{
    /** Charges the customer's stored card; false when the bank declines. */
    public function charge(string $customer, Money $amount, string $reference): bool;
}

/** The use cases of billing. */
final class BillingEngine
{
    public function __construct(
        private readonly Store $store,
        private readonly PlanCatalog $plans,
        private readonly PaymentGateway $gateway,
        private readonly Dunning $dunning,
    ) {
    }

    /** Starts a subscription and charges its first period. */
    public function subscribe(
        string $customer,
        string $planId,
        string $timezone,
        DateTimeImmutable $now,
        int $couponPercent = 0,
        int $taxPercent = 19,
    ): Subscription {
        if (!$this->plans->has($planId)) {
            throw new \DomainException("unknown plan {$planId}");
        }
        $id = $this->store->nextNumber('SUB');
        $subscription = Subscription::start($id, $customer, $planId, $timezone, $couponPercent, $taxPercent, $now);
        $this->store->addSubscription($subscription);
        $this->bill($subscription, $now);
        $this->store->save();
        return $subscription;
    }

    /** Renews every subscription whose period is over; returns how many. */
    public function runDue(DateTimeImmutable $now): int
    {
        $renewed = 0;
        foreach ($this->store->subscriptions() as $subscription) {
            if ($subscription->isDue($now)) {
                $subscription->advance();
                $this->bill($subscription, $now);
                $renewed++;
            }
        }
        $this->store->save();
        return $renewed;
    }

    /** Switches the plan now and settles the difference. */
    public function changePlan(string $id, string $newPlanId, DateTimeImmutable $now): Invoice
    {
        $subscription = $this->store->subscription($id);
        if ($subscription->status !== Subscription::ACTIVE) {
            throw new \DomainException("{$id} is {$subscription->status}");
        }
        $number = $this->store->nextNumber('INV');
        $invoice = Invoice::planChange($number, $subscription, $newPlanId, $this->plans, $now);
        $this->store->addInvoice($invoice);
        $subscription->planId = $newPlanId;
        if ($invoice->total()->isPositive()) {
            $this->collect($subscription, $invoice, $now);
        } else {
            $subscription->creditCents -= $invoice->total()->cents;
            $invoice->paid = true;
        }
        $this->store->save();
        return $invoice;
    }

    public function cancel(string $id): void
    {
        $this->store->subscription($id)->moveTo(Subscription::CANCELLED);
        $this->store->save();
    }

    /** What the next renewal will cost, for the customer's account page. */
    public function quote(string $id): Money
    {
        $subscription = $this->store->subscription($id);
        $price = $this->plans->price($subscription->planId);
        $gross = (int) ($price->cents * (100 + $subscription->taxPercent) / 100);
        $discount = (int) ($gross * $subscription->couponPercent / 100);
        return new Money($gross - $discount, $price->currency);
    }

    /** @return array<string, Money> net revenue of a month by currency */
    public function monthlyRevenue(): array
    {
        $revenue = [];
        foreach ($this->store->subscriptions() as $subscription) {
            if ($subscription->status === Subscription::CANCELLED) {
                continue;
            }
            $price = $this->plans->price($subscription->planId);
            $net = $price->minus($price->percent($subscription->couponPercent));
            $revenue[$net->currency] = ($revenue[$net->currency] ?? Money::zero($net->currency))->plus($net);
        }
        return $revenue;
    }

    private function bill(Subscription $subscription, DateTimeImmutable $now): void
    {
        $invoice = Invoice::renewal($this->store->nextNumber('INV'), $subscription, $this->plans);
        $subscription->creditCents = 0;
        $this->store->addInvoice($invoice);
        $this->collect($subscription, $invoice, $now);
    }

    private function collect(Subscription $subscription, Invoice $invoice, DateTimeImmutable $now): void
    {
        $total = $invoice->total();
        if (!$total->isPositive() || $this->gateway->charge($subscription->customer, $total, $invoice->number)) {
            $invoice->paid = true;
            return;
        }
        $subscription->openInvoice = $invoice->number;
        $this->dunning->failed($subscription, $now);
    }
}
