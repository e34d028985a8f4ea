module cadence

go 1.19
