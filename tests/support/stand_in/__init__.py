"""Stand-ins for services that tests must not depend on."""
