// Package runner executes runs on a fixed pool of workers.
package runner

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"time"
)

// QueueDepth is how many submitted runs may wait for a worker.
const QueueDepth = 16

const (
	startTries   = 4
	startWait    = time.Second
	startWaitMax = 30 * time.Second
	outputTail   = 2048
)

// Run is one attempt at a job.
type Run struct {
	Job         string
	Command     string
	Arg         string
	Timeout     time.Duration
	Attempt     int
	ScheduledAt time.Time
}

// Result is the outcome of a run. Exit is -1 when the command did not end by itself.
type Result struct {
	Run        Run
	StartedAt  time.Time
	FinishedAt time.Time
	Exit       int
	Output     string
}

// Executor runs one command to its end.
type Executor interface {
	Execute(ctx context.Context, run Run) (exit int, output string)
}

// Pool is a set of workers fed through a queue.
type Pool struct {
	work    chan Run
	results chan Result
}

// NewPool starts the workers. They end when ctx does.
func NewPool(ctx context.Context, size int, executor Executor, now func() time.Time) *Pool {
	p := &Pool{work: make(chan Run, QueueDepth), results: make(chan Result)}
	for i := 0; i < size; i++ {
		go p.serve(ctx, executor, now)
	}
	return p
}

// Submit hands a run to the pool.
func (p *Pool) Submit(run Run) { p.work <- run }

// Results delivers the outcome of every run.
func (p *Pool) Results() <-chan Result { return p.results }

func (p *Pool) serve(ctx context.Context, executor Executor, now func() time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case run := <-p.work:
			result := Result{Run: run, StartedAt: now()}
			limited, cancel := context.WithTimeout(ctx, run.Timeout)
			result.Exit, result.Output = executor.Execute(limited, run)
			cancel()
			result.FinishedAt = now()
			select {
			case p.results <- result:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Shell executes commands by sh -c.
type Shell struct{}

// Execute fills in the argument and runs the command. A shell that cannot be started is tried again.
func (Shell) Execute(ctx context.Context, run Run) (int, string) {
	command := strings.ReplaceAll(run.Command, "{arg}", run.Arg)
	wait := startWait
	for try := 1; ; try++ {
		var output bytes.Buffer
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Env = append(os.Environ(), "CADENCE_JOB="+run.Job)
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err == nil {
			_ = cmd.Wait()
			return cmd.ProcessState.ExitCode(), tail(output.String())
		} else if try == startTries {
			return -1, "start: " + err.Error()
		}
		select {
		case <-ctx.Done():
			return -1, "start: " + ctx.Err().Error()
		case <-time.After(wait):
		}
		wait *= 2
		if wait > startWaitMax {
			wait = startWaitMax
		}
	}
}

func tail(text string) string {
	if len(text) > outputTail {
		return text[len(text)-outputTail:]
	}
	return text
}
