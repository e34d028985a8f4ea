<?php

declare(strict_types=1);

namespace Tidepool;

/** The plans on offer. Prices are net and per month. */
final class PlanCatalog
{
    private const PLANS = [
        'starter' => ['name' => 'Starter', 'cents' => 1900, 'currency' => 'EUR'],
        'team' => ['name' => 'Team', 'cents' => 4900, 'currency' => 'EUR'],
        'studio' => ['name' => 'Studio', 'cents' => 12900, 'currency' => 'EUR'],
        'team-us' => ['name' => 'Team (US)', 'cents' => 5400, 'currency' => 'USD'],
    ];

    public function has(string $planId): bool
    {
        return isset(self::PLANS[$planId]);
    }

    public function name(string $planId): string
    {
        return $this->plan($planId)['name'];
    }

    public function price(string $planId): Money
    {
        $plan = $this->plan($planId);
        return new Money($plan['cents'], $plan['currency']);
    }

    /** @return array{name: string, cents: int, currency: string} */
    private function plan(string $planId): array
    {
        return self::PLANS[$planId] ?? throw new \DomainException("unknown plan {$planId}");
    }
}
