<?php

declare(strict_types=1);

namespace Tidepool;

use DateTimeImmutable;

/** What a customer owes for one event, line by line. */
final class Invoice
{
    public bool $paid = false;

    /** @param list<array{text: string, cents: int}> $lines */
    public function __construct(
        public readonly string $number,
        public readonly string $subscription,
        public readonly string $currency,
        public readonly array $lines,
    ) {
    }

    /** The plan's price for the period that begins now, less coupon and credit, plus tax. */
    public static function renewal(string $number, Subscription $subscription, PlanCatalog $plans): self
    {
        $price = $plans->price($subscription->planId);
        $discount = $price->percent($subscription->couponPercent);
        $net = $price->minus($discount);
        $tax = $net->percent($subscription->taxPercent);
        $lines = [['text' => $plans->name($subscription->planId) . ', monthly', 'cents' => $price->cents]];
        if ($discount->isPositive()) {
            $lines[] = ['text' => "Coupon {$subscription->couponPercent} %", 'cents' => -$discount->cents];
        }
        $lines[] = ['text' => "Tax {$subscription->taxPercent} %", 'cents' => $tax->cents];
        $credit = min($subscription->creditCents, $net->plus($tax)->cents);
        if ($credit > 0) {
            $lines[] = ['text' => 'Credit', 'cents' => -$credit];
        }
        return new self($number, $subscription->id, $price->currency, $lines);
    }

    /** The difference between two plans for the days that are left of the period. */
    public static function planChange(
        string $number,
        Subscription $subscription,
        string $newPlanId,
        PlanCatalog $plans,
        DateTimeImmutable $now,
    ): self {
        $whole = self::days($subscription->periodStart, $subscription->periodEnd);
        $left = self::days($now, $subscription->periodEnd);
        $credit = $plans->price($subscription->planId)->fraction($left, $whole);
        $charge = $plans->price($newPlanId)->fraction($left, $whole);
        $tax = $charge->minus($credit)->percent($subscription->taxPercent);
        return new self($number, $subscription->id, $charge->currency, [
            ['text' => "{$plans->name($newPlanId)}, {$left} of {$whole} days", 'cents' => $charge->cents],
            ['text' => "{$plans->name($subscription->planId)}, unused", 'cents' => -$credit->cents],
            ['text' => "Tax {$subscription->taxPercent} %", 'cents' => $tax->cents],
        ]);
    }

    public function total(): Money
    {
        return new Money(array_sum(array_column($this->lines, 'cents')), $this->currency);
    }

    private static function days(DateTimeImmutable $from, DateTimeImmutable $to): int
    {
        return intdiv($to->getTimestamp() - $from->getTimestamp(), 86400);
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return get_object_vars($this);
    }

    /** @param array<string, mixed> $row */
    public static function fromArray(array $row): self
    {
        $self = new self($row['number'], $row['subscription'], $row['currency'], $row['lines']);
        $self->paid = $row['paid'];
        return $self;
    }
}
