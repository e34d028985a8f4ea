// Package scheduler decides when jobs run. One goroutine, Run, owns all of its state.
package scheduler

import (
	"context"
	"fmt"
	"log"
	"sort"
	"time"

	"cadence/internal/job"
	"cadence/internal/journal"
	"cadence/internal/runner"
)

// MaxCatchUp bounds the missed runs that are made up for one job.
const MaxCatchUp = 24

const (
	retryBase = 2 * time.Second
	retryMax  = 5 * time.Minute
)

// Clock tells the time and waits for it.
type Clock interface {
	Now() time.Time
	At(t time.Time) <-chan time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// At delivers once t has come.
func (SystemClock) At(t time.Time) <-chan time.Time { return time.After(time.Until(t)) }

// Status is a copy of a job's state.
type Status struct {
	Next    time.Time
	Running int
	Attempt int
	Failed  bool
}

type entry struct {
	job job.Job
	Status
}

type pending struct {
	at      time.Time
	name    string
	arg     string
	attempt int
	planned time.Time
}

// Scheduler holds jobs and their coming runs.
type Scheduler struct {
	clock   Clock
	pool    *runner.Pool
	journal *journal.Journal
	jobs    map[string]*entry
	queue   []pending
	calls   chan func()
}

// New prepares a scheduler. Run starts it.
func New(jobs []job.Job, pool *runner.Pool, records *journal.Journal, clock Clock) *Scheduler {
	s := &Scheduler{
		clock: clock, pool: pool, journal: records,
		jobs: map[string]*entry{}, calls: make(chan func()),
	}
	for _, j := range jobs {
		s.jobs[j.Name] = &entry{job: j}
	}
	return s
}

// Run schedules until ctx ends.
func (s *Scheduler) Run(ctx context.Context) {
	now := s.clock.Now()
	for _, e := range s.jobs {
		s.catchUp(e, now)
		s.planNext(e, now)
	}
	for {
		var due <-chan time.Time
		if len(s.queue) > 0 {
			due = s.clock.At(s.queue[0].at)
		}
		select {
		case <-ctx.Done():
			return
		case call := <-s.calls:
			call()
		case result := <-s.pool.Results():
			s.finish(result)
		case <-due:
			s.fireDue(s.clock.Now())
		}
	}
}

// Do runs a function on the scheduler's goroutine and waits for it.
func (s *Scheduler) Do(ctx context.Context, call func()) error {
	done := make(chan struct{})
	select {
	case s.calls <- func() { defer close(done); call() }:
	case <-ctx.Done():
		return ctx.Err()
	}
	<-done
	return nil
}

// Status returns a job's state.
func (s *Scheduler) Status(ctx context.Context, name string) (status Status, err error) {
	err = s.with(ctx, name, func(e *entry) { status = e.Status })
	return status, err
}

// Trigger queues a run at once, with an argument for the command.
func (s *Scheduler) Trigger(ctx context.Context, name, arg string) error {
	return s.with(ctx, name, func(e *entry) {
		now := s.clock.Now()
		s.enqueue(pending{at: now, name: name, arg: arg, attempt: 1, planned: now})
	})
}

func (s *Scheduler) with(ctx context.Context, name string, use func(*entry)) error {
	var missing error
	err := s.Do(ctx, func() {
		if e, ok := s.jobs[name]; ok {
			use(e)
		} else {
			missing = fmt.Errorf("no job %q", name)
		}
	})
	if err != nil {
		return err
	}
	return missing
}

func (s *Scheduler) catchUp(e *entry, now time.Time) {
	last, known := s.journal.LastScheduled(e.job.Name)
	if !known || e.job.CatchUp == job.CatchUpNone {
		return
	}
	var missed []time.Time
	for at, ok := e.job.Cron.Next(last); ok && !at.After(now); at, ok = e.job.Cron.Next(at) {
		missed = append(missed, at)
	}
	keep := MaxCatchUp
	if e.job.CatchUp == job.CatchUpLast {
		keep = 1
	}
	if len(missed) > keep {
		missed = missed[len(missed)-keep:]
	}
	for _, at := range missed {
		s.enqueue(pending{at: now, name: e.job.Name, attempt: 1, planned: at})
	}
}

func (s *Scheduler) planNext(e *entry, after time.Time) {
	at, ok := e.job.Cron.Next(after)
	if !ok {
		log.Printf("job %s: schedule never comes", e.job.Name)
		return
	}
	e.Next = at
	s.enqueue(pending{at: at, name: e.job.Name, attempt: 1, planned: at})
}

func (s *Scheduler) enqueue(p pending) {
	s.queue = append(s.queue, p)
	sort.SliceStable(s.queue, func(i, k int) bool { return s.queue[i].at.Before(s.queue[k].at) })
}

func (s *Scheduler) fireDue(now time.Time) {
	for len(s.queue) > 0 && !s.queue[0].at.After(now) {
		p := s.queue[0]
		s.queue = s.queue[1:]
		e := s.jobs[p.name]
		if p.planned.Equal(e.Next) && p.attempt == 1 {
			s.planNext(e, now)
		}
		e.Running++
		e.Attempt = p.attempt
		s.pool.Submit(runner.Run{
			Job: p.name, Command: e.job.Command, Arg: p.arg, Timeout: e.job.Timeout(),
			Attempt: p.attempt, ScheduledAt: p.planned,
		})
	}
}

func (s *Scheduler) finish(result runner.Result) {
	run := result.Run
	e := s.jobs[run.Job]
	e.Running--
	e.Failed = result.Exit != 0
	record := journal.Record{
		Job: run.Job, ScheduledAt: run.ScheduledAt, StartedAt: result.StartedAt, FinishedAt: result.FinishedAt,
		Attempt: run.Attempt, Exit: result.Exit, Output: result.Output,
	}
	if err := s.journal.Append(record); err != nil {
		log.Printf("journal: %v", err)
	}
	if e.Failed && run.Attempt <= e.job.Retries {
		at := s.clock.Now().Add(retryDelay(run.Attempt))
		s.enqueue(pending{
			at: at, name: run.Job, arg: run.Arg, attempt: run.Attempt + 1, planned: run.ScheduledAt,
		})
	}
}

func retryDelay(attempt int) time.Duration {
	delay := retryBase
	for i := 1; i < attempt; i++ {
		delay *= 2
		if delay > retryMax {
			return retryMax
		}
	}
	return delay
}
