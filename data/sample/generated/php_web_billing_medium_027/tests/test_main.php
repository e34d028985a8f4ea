<?php

declare(strict_types=1);

require __DIR__ . '/../src/module_1.php';

if (Shared\title('Billing', '', 'March') !== 'Billing - March') {
    fwrite(STDERR, "title: empty parts are kept\n");
    exit(1);
}
echo "ok\n";
