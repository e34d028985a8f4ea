<?php

declare(strict_types=1);

namespace Shared;

/** Joins the parts that are not empty, for page titles and mail subjects. */
function title(string ...$parts): string
{
    return implode(' - ', array_filter($parts, fn (string $part) => $part !== ''));
}
