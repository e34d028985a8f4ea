// Package cron parses five-field cron expressions and finds the times they name.
package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Schedule holds one bit for every value a field allows.
type Schedule struct {
	minute, hour, dom, month, dow uint64
	domStar, dowStar              bool
}

type field struct {
	name   string
	lo, hi int
}

var fieldList = [5]field{
	{"minute", 0, 59},
	{"hour", 0, 23},
	{"day of month", 1, 31},
	{"month", 1, 12},
	{"day of week", 0, 6},
}

// horizon bounds the search of Next: 29 February comes at least once in eight years.
const horizon = 8 * 366 * 24 * time.Hour

// Parse reads an expression such as "*/15 8-18 * * 1-5".
func Parse(expr string) (Schedule, error) {
	parts := strings.Fields(expr)
	if len(parts) != len(fieldList) {
		return Schedule{}, fmt.Errorf("schedule %q: want 5 fields, have %d", expr, len(parts))
	}
	var masks [5]uint64
	for i, part := range parts {
		for _, item := range strings.Split(part, ",") {
			bits, err := parseItem(item, fieldList[i])
			if err != nil {
				return Schedule{}, fmt.Errorf("schedule %q: %s: %w", expr, fieldList[i].name, err)
			}
			masks[i] |= bits
		}
	}
	return Schedule{
		minute: masks[0], hour: masks[1], dom: masks[2], month: masks[3], dow: masks[4],
		domStar: parts[2] == "*", dowStar: parts[4] == "*",
	}, nil
}

func parseItem(item string, f field) (uint64, error) {
	span, stepText, stepped := strings.Cut(item, "/")
	step := 1
	if stepped {
		n, err := strconv.Atoi(stepText)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("bad step %q", stepText)
		}
		step = n
	}
	lo, hi := f.lo, f.hi
	if span != "*" {
		first, last, ranged := strings.Cut(span, "-")
		if !ranged {
			last = first
		}
		var errLo, errHi error
		lo, errLo = strconv.Atoi(first)
		hi, errHi = strconv.Atoi(last)
		if errLo != nil || errHi != nil || lo < f.lo || hi > f.hi || lo > hi {
			return 0, fmt.Errorf("bad value %q, want %d to %d", span, f.lo, f.hi)
		}
	}
	var mask uint64
	for v := lo; v <= hi; v++ {
		if v%step == 0 {
			mask |= 1 << uint(v)
		}
	}
	return mask, nil
}

func has(mask uint64, v int) bool { return mask&(1<<uint(v)) != 0 }

func (s Schedule) matchesDay(t time.Time) bool {
	dom, dow := has(s.dom, t.Day()), has(s.dow, int(t.Weekday()))
	if s.domStar || s.dowStar {
		return dom && dow
	}
	return dom || dow
}

// Next returns the first matching minute after t, in t's location, and false when there is none.
func (s Schedule) Next(t time.Time) (time.Time, bool) {
	limit := t.Add(horizon)
	t = t.Truncate(time.Minute).Add(time.Minute)
	for t.Before(limit) {
		switch {
		case !has(s.month, int(t.Month())):
			t = time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, t.Location())
		case !s.matchesDay(t):
			t = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, t.Location())
		case !has(s.hour, t.Hour()):
			t = t.Truncate(time.Hour).Add(time.Hour)
		case !has(s.minute, t.Minute()):
			t = t.Add(time.Minute)
		default:
			return t, true
		}
	}
	return time.Time{}, false
}
