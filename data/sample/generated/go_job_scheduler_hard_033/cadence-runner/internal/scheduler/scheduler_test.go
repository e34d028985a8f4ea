package scheduler_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cadence/internal/control"
	"cadence/internal/cron"
	"cadence/internal/job"
	"cadence/internal/journal"
	"cadence/internal/runner"
	"cadence/internal/scheduler"
)

var start = time.Date(2024, 3, 1, 5, 50, 0, 0, time.UTC)

type fakeClock struct {
	mu      sync.Mutex
	now     time.Time
	waiters map[chan time.Time]time.Time
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) At(t time.Time) <-chan time.Time {
	waiter := make(chan time.Time, 1)
	c.mu.Lock()
	c.waiters[waiter] = t
	c.mu.Unlock()
	c.advance(0)
	return waiter
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for waiter, t := range c.waiters {
		if !t.After(c.now) {
			waiter <- c.now
			delete(c.waiters, waiter)
		}
	}
}

type fakeExecutor struct {
	runs  chan runner.Run
	exits chan int
}

func (f fakeExecutor) Execute(ctx context.Context, run runner.Run) (int, string) {
	f.runs <- run
	return <-f.exits, ""
}

type rig struct {
	*scheduler.Scheduler
	clock    *fakeClock
	executor fakeExecutor
	journal  *journal.Journal
}

func newRig(t *testing.T, j job.Job) rig {
	t.Helper()
	if err := j.Prepare(); err != nil {
		t.Fatal(err)
	}
	records, err := journal.Open(filepath.Join(t.TempDir(), "runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); records.Close() })
	clock := &fakeClock{now: start, waiters: map[chan time.Time]time.Time{}}
	executor := fakeExecutor{make(chan runner.Run, 8), make(chan int, 8)}
	s := scheduler.New([]job.Job{j}, runner.NewPool(ctx, 2, executor, clock.Now), records, clock)
	go s.Run(ctx)
	if _, err := s.Status(ctx, j.Name); err != nil {
		t.Fatal(err)
	}
	return rig{s, clock, executor, records}
}

func (r rig) waitIdle(t *testing.T, name string) {
	t.Helper()
	for status, err := r.Status(context.Background(), name); status.Running > 0; {
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		status, err = r.Status(context.Background(), name)
	}
}

func TestNextFindsTheComingMinute(t *testing.T) {
	cases := map[string]string{
		"*/15 * * * *": "2024-03-01T06:00:00Z",
		"0 0 29 2 *":   "2028-02-29T00:00:00Z",
		"0 0 13 * 5":   "2024-03-08T00:00:00Z",
	}
	for expr, want := range cases {
		schedule, err := cron.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
		if next, ok := schedule.Next(start); !ok || next.Format(time.RFC3339) != want {
			t.Errorf("%s: have %v, want %s", expr, next, want)
		}
	}
}

func TestAFailedRunIsTriedAgain(t *testing.T) {
	r := newRig(t, job.Job{Name: "report", Schedule: "0 6 * * *", Command: "true", Retries: 1})
	r.clock.advance(10 * time.Minute)
	if run := <-r.executor.runs; run.Attempt != 1 {
		t.Fatalf("ran %+v", run)
	}
	r.executor.exits <- 1
	r.waitIdle(t, "report")
	r.clock.advance(2 * time.Second)
	if run := <-r.executor.runs; run.Attempt != 2 {
		t.Fatalf("ran %+v", run)
	}
	r.executor.exits <- 0
	r.waitIdle(t, "report")
	if last, ok := r.journal.LastScheduled("report"); !ok || !last.Equal(start.Add(10*time.Minute)) {
		t.Fatalf("journal has %v", last)
	}
}

func TestTheJournalIsReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	for want := 0; want < 2; want++ {
		records, err := journal.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if last, ok := records.LastScheduled("report"); ok != (want == 1) || ok && !last.Equal(start) {
			t.Fatalf("have %v", last)
		}
		if err := records.Append(journal.Record{Job: "report", ScheduledAt: start, Attempt: 1}); err != nil {
			t.Fatal(err)
		}
		records.Close()
	}
}

func TestTheControlProtocolAnswersLineByLine(t *testing.T) {
	r := newRig(t, job.Job{Name: "report", Schedule: "0 6 * * *", Command: "true"})
	var out bytes.Buffer
	in := strings.NewReader("STATUS report\nSTATUS nothing\nHELLO\n")
	peer := struct {
		io.Reader
		io.Writer
	}{in, &out}
	if err := control.Serve(context.Background(), peer, r.Scheduler); err != nil {
		t.Fatal(err)
	}
	want := "OK next=2024-03-01T06:00:00Z running=0 attempt=0\nERR no job \"nothing\"\nERR unknown request \"HELLO\"\n"
	if out.String() != want {
		t.Fatalf("have %q", out.String())
	}
}
