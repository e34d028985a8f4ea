// Command cadence runs jobs on schedules.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"cadence/internal/control"
	"cadence/internal/job"
	"cadence/internal/journal"
	"cadence/internal/runner"
	"cadence/internal/scheduler"
)

func main() {
	jobFile := flag.String("jobs", "config/jobs.json", "job file")
	journalFile := flag.String("journal", "runs.jsonl", "run journal")
	socket := flag.String("socket", "cadence.sock", "control socket")
	workers := flag.Int("workers", 4, "runs at the same time")
	flag.Parse()

	jobs, err := job.Load(*jobFile)
	must(err)
	records, err := journal.Open(*journalFile)
	must(err)
	defer records.Close()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	clock := scheduler.SystemClock{}
	pool := runner.NewPool(ctx, *workers, runner.Shell{}, clock.Now)
	s := scheduler.New(jobs, pool, records, clock)
	listener, err := listen(*socket)
	must(err)
	go accept(ctx, listener, s)
	log.Printf("%d jobs, %d workers, control at %s", len(jobs), *workers, *socket)
	s.Run(ctx)
	listener.Close()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func listen(path string) (net.Listener, error) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(path, 0o666)
}

func accept(ctx context.Context, listener net.Listener, s *scheduler.Scheduler) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			_ = control.Serve(ctx, conn, s)
		}()
	}
}
