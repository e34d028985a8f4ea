<?php

declare(strict_types=1);

// Runs every test below and prints one line each. Usage: php tests/run.php BUILD_DIR

use Tidepool\{BillingEngine, Dunning, Money, PaymentGateway, PlanCatalog, Store, Subscription, WebhookEndpoint};

foreach (glob(__DIR__ . '/../src/*.php') as $file) {
    require_once $file;
}

/** Declines the charges whose turn is listed, accepts all others. */
final class ScriptedGateway implements PaymentGateway
{
    /** @var list<string> */
    public array $charges = [];

    /** @param list<int> $declined */
    public function __construct(private readonly array $declined = [])
    {
    }

    public function charge(string $customer, Money $amount, string $reference): bool
    {
        $this->charges[] = "{$customer} {$amount}";
        return !in_array(count($this->charges), $this->declined, true);
    }
}

function at(string $text): DateTimeImmutable
{
    return new DateTimeImmutable($text, new DateTimeZone('UTC'));
}

function same(mixed $expected, mixed $actual): void
{
    if ($expected !== $actual) {
        throw new Exception('expected ' . var_export($expected, true) . ', got ' . var_export($actual, true));
    }
}

/** @return array{BillingEngine, Dunning, Store, ScriptedGateway} */
function service(string $name, array $declined = []): array
{
    $path = ($GLOBALS['argv'][1] ?? 'build') . "/{$name}.json";
    @unlink($path);
    $store = new Store($path);
    $gateway = new ScriptedGateway($declined);
    $dunning = new Dunning($store, $gateway);
    return [new BillingEngine($store, new PlanCatalog(), $gateway, $dunning), $dunning, $store, $gateway];
}

$tests = [
    'first period is charged with tax' => function () {
        [$engine, , $store, $gateway] = service('first');
        $subscription = $engine->subscribe('ada', 'team', 'UTC', at('2026-01-10 15:30'));
        same(['ada 58.31 EUR'], $gateway->charges);
        same(true, $store->invoicesOf($subscription->id)[0]->paid);
    },
    'coupon lowers the net price' => function () {
        [$engine, , , $gateway] = service('coupon');
        $subscription = $engine->subscribe('ada', 'starter', 'UTC', at('2026-01-10'), couponPercent: 10);
        same(['ada 20.35 EUR'], $gateway->charges);
        same('20.35 EUR', (string) $engine->quote($subscription->id));
        same(1710, $engine->monthlyRevenue()['EUR']->cents);
    },
    'renewals keep the anchor day' => function () {
        [$engine] = service('anchor');
        $subscription = $engine->subscribe('ada', 'starter', 'UTC', at('2026-01-31'));
        $ends = [$subscription->periodEnd->format('Y-m-d')];
        foreach (['2026-02-28', '2026-03-31', '2026-04-30'] as $day) {
            same(1, $engine->runDue(at($day)));
            $ends[] = $subscription->periodEnd->format('Y-m-d');
        }
        same(['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31'], $ends);
    },
    'upgrade charges the days that are left' => function () {
        [$engine] = service('upgrade');
        $subscription = $engine->subscribe('ada', 'starter', 'Europe/Berlin', at('2026-06-01'));
        $invoice = $engine->changePlan($subscription->id, 'team', at('2026-06-16'));
        same('Team, 14 of 30 days', $invoice->lines[0]['text']);
        same(1666, $invoice->total()->cents);
    },
    'downgrade becomes a credit for the next renewal' => function () {
        [$engine, , $store, $gateway] = service('downgrade');
        $subscription = $engine->subscribe('ada', 'team', 'UTC', at('2026-06-01'));
        $engine->changePlan($subscription->id, 'starter', at('2026-06-16'));
        same(1785, $subscription->creditCents);
        $engine->runDue(at('2026-07-01'));
        same('ada 4.76 EUR', $gateway->charges[1]);
    },
    'declined payment is tried again until the subscription ends' => function () {
        [$engine, $dunning] = service('decline', [2, 3, 4, 5]);
        $subscription = $engine->subscribe('ada', 'starter', 'UTC', at('2026-01-10'));
        $engine->runDue(at('2026-02-10'));
        same(Subscription::PAST_DUE, $subscription->status);
        same([0, 1, 1], array_map(fn ($day) => $dunning->retryDue(at("2026-02-{$day}")), ['10', '11', '13']));
        same(Subscription::PAST_DUE, $subscription->status);
        same(1, $dunning->retryDue(at('2026-02-17')));
        same(Subscription::CANCELLED, $subscription->status);
    },
    'payment on retry restores the subscription' => function () {
        [$engine, $dunning, $store] = service('recovery', [1]);
        $subscription = $engine->subscribe('ada', 'starter', 'UTC', at('2026-01-10'));
        same(1, $dunning->retryDue(at('2026-01-11')));
        same([Subscription::ACTIVE, 0, null], [$subscription->status, $subscription->failures, $subscription->openInvoice]);
        same(true, $store->invoicesOf($subscription->id)[0]->paid);
    },
    'store reads back what it saved' => function () {
        [$engine, , $store] = service('store', [1]);
        $id = $engine->subscribe('ada', 'team', 'Europe/Berlin', at('2026-03-10'))->id;
        $again = new Store(($GLOBALS['argv'][1] ?? 'build') . '/store.json');
        same($store->subscription($id)->toArray(), $again->subscription($id)->toArray());
        same('INV-00003', $again->nextNumber('INV'));
    },
    'webhook checks signature and age and takes an event once' => function () {
        [$engine, $dunning, $store] = service('webhook', [1]);
        $subscription = $engine->subscribe('ada', 'starter', 'UTC', at('2026-01-10'));
        $webhook = new WebhookEndpoint($store, $dunning, 'secret');
        $now = at('2026-01-10 00:05');
        $body = json_encode(['id' => 'evt_1', 'type' => 'payment.succeeded', 'subscription' => $subscription->id]);
        $headers = ['x-timestamp' => (string) $now->getTimestamp(), 'x-signature' => hash_hmac('sha256', $body, 'secret')];
        same([401, 'bad signature'], $webhook->handle(['x-signature' => 'no'] + $headers, $body, $now));
        same([400, 'stale'], $webhook->handle($headers, $body, $now->modify('+1 hour')));
        same([200, 'ok'], $webhook->handle($headers, $body, $now));
        same(Subscription::ACTIVE, $subscription->status);
        same([200, 'known'], $webhook->handle($headers, $body, $now));
    },
];

$failed = 0;
foreach ($tests as $name => $test) {
    try {
        $test();
        echo "ok    {$name}\n";
    } catch (Throwable $error) {
        $failed++;
        echo "FAIL  {$name}: {$error->getMessage()}\n";
    }
}
echo count($tests) - $failed, ' of ', count($tests), " passed\n";
exit($failed === 0 ? 0 : 1);
