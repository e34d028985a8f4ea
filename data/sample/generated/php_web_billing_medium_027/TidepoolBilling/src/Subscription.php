<?php

declare(strict_types=1);

namespace Tidepool;

use DateTimeImmutable;
use DateTimeZone;

/** One customer's subscription: its plan, its billing period and its standing. */
final class Subscription
{
    public const ACTIVE = 'active';
    public const PAST_DUE = 'past_due';
    public const CANCELLED = 'cancelled';

    private const TRANSITIONS = [
        self::ACTIVE => [self::PAST_DUE, self::CANCELLED],
        self::PAST_DUE => [self::ACTIVE, self::CANCELLED],
        self::CANCELLED => [],
    ];

    public string $status = self::ACTIVE;
    public int $creditCents = 0;
    public int $failures = 0;
    public ?DateTimeImmutable $firstFailure = null;
    public ?DateTimeImmutable $nextRetry = null;
    public ?string $openInvoice = null;

    public function __construct(
        public readonly string $id,
        public readonly string $customer,
        public string $planId,
        public readonly string $timezone,
        public readonly int $couponPercent,
        public readonly int $taxPercent,
        public readonly int $anchorDay,
        public DateTimeImmutable $periodStart,
        public DateTimeImmutable $periodEnd,
    ) {
    }

    public static function start(
        string $id,
        string $customer,
        string $planId,
        string $timezone,
        int $couponPercent,
        int $taxPercent,
        DateTimeImmutable $now,
    ): self {
        $start = $now->setTimezone(new DateTimeZone($timezone))->setTime(0, 0);
        $anchorDay = (int) $start->format('j');
        $end = self::boundaryAfter($start, $anchorDay);
        return new self($id, $customer, $planId, $timezone, $couponPercent, $taxPercent, $anchorDay, $start, $end);
    }

    public function isDue(DateTimeImmutable $now): bool
    {
        return $this->status === self::ACTIVE && $this->periodEnd <= $now;
    }

    /** Moves to the next billing period. */
    public function advance(): void
    {
        $this->periodStart = $this->periodEnd;
        $this->periodEnd = self::boundaryAfter($this->periodEnd, $this->anchorDay);
    }

    public function moveTo(string $status): void
    {
        if ($status === $this->status) {
            return;
        }
        if (!in_array($status, self::TRANSITIONS[$this->status], true)) {
            throw new \DomainException("{$this->id}: cannot go from {$this->status} to {$status}");
        }
        $this->status = $status;
    }

    /** The anchor day of the following month, or that month's last day. */
    private static function boundaryAfter(DateTimeImmutable $from, int $anchorDay): DateTimeImmutable
    {
        $month = $from->modify('first day of next month');
        $day = min($anchorDay, (int) $month->format('t'));
        return $month->setDate((int) $month->format('Y'), (int) $month->format('n'), $day);
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        $row = get_object_vars($this);
        $zone = new DateTimeZone($this->timezone);
        foreach (['periodStart', 'periodEnd', 'firstFailure', 'nextRetry'] as $field) {
            $row[$field] = $row[$field]?->setTimezone($zone)->format(DATE_ATOM);
        }
        return $row;
    }

    /** @param array<string, mixed> $row */
    public static function fromArray(array $row): self
    {
        $zone = new DateTimeZone($row['timezone']);
        $date = fn (?string $text) => $text === null ? null : (new DateTimeImmutable($text))->setTimezone($zone);
        $self = new self(
            $row['id'],
            $row['customer'],
            $row['planId'],
            $row['timezone'],
            $row['couponPercent'],
            $row['taxPercent'],
            $row['anchorDay'],
            $date($row['periodStart']),
            $date($row['periodEnd']),
        );
        $self->status = $row['status'];
        $self->creditCents = $row['creditCents'];
        $self->failures = $row['failures'];
        $self->firstFailure = $date($row['firstFailure']);
        $self->nextRetry = $date($row['nextRetry']);
        $self->openInvoice = $row['openInvoice'];
        return $self;
    }
}
