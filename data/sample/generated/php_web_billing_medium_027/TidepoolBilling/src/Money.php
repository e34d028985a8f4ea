<?php

declare(strict_types=1);

namespace Tidepool;

/** An amount in cents of one currency; negative amounts are credits. */
final class Money
{
    public function __construct(public readonly int $cents, public readonly string $currency)
    {
    }

    public static function zero(string $currency): self
    {
        return new self(0, $currency);
    }

    public function plus(self $other): self
    {
        $this->assertSameCurrency($other);
        return new self($this->cents + $other->cents, $this->currency);
    }

    public function minus(self $other): self
    {
        return $this->plus(new self(-$other->cents, $other->currency));
    }

    /** The given share of the amount, rounded half away from zero to a whole cent. */
    public function percent(int $percent): self
    {
        return $this->fraction($percent, 100);
    }

    public function fraction(int $part, int $whole): self
    {
        return new self((int) round($this->cents * $part / $whole), $this->currency);
    }

    public function isPositive(): bool
    {
        return $this->cents > 0;
    }

    public function __toString(): string
    {
        return sprintf('%s%d.%02d %s', $this->cents < 0 ? '-' : '', intdiv(abs($this->cents), 100), abs($this->cents) % 100, $this->currency);
    }

    private function assertSameCurrency(self $other): void
    {
        if ($this->currency !== $other->currency) {
            throw new \DomainException("cannot add {$other->currency} to {$this->currency}");
        }
    }
}
