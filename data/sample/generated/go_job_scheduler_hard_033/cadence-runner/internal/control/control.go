// Package control speaks the line protocol of the control socket.
package control

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"cadence/internal/scheduler"
)

// Serve answers requests until the peer is done.
func Serve(ctx context.Context, peer io.ReadWriter, s *scheduler.Scheduler) error {
	scanner := bufio.NewScanner(peer)
	for scanner.Scan() {
		if _, err := fmt.Fprintln(peer, answer(ctx, s, scanner.Text())); err != nil {
			return err
		}
	}
	return scanner.Err()
}

func answer(ctx context.Context, s *scheduler.Scheduler, line string) string {
	verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	name, arg, _ := strings.Cut(strings.TrimSpace(rest), " ")
	var text string
	var err error
	switch strings.ToUpper(verb) {
	case "STATUS":
		text, err = status(ctx, s, name)
	case "TRIGGER":
		text, err = "queued", s.Trigger(ctx, name, arg)
	default:
		err = fmt.Errorf("unknown request %q", verb)
	}
	if err != nil {
		return "ERR " + err.Error()
	}
	return "OK " + text
}

func status(ctx context.Context, s *scheduler.Scheduler, name string) (string, error) {
	st, err := s.Status(ctx, name)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("next=%s running=%d attempt=%d", st.Next.UTC().Format(time.RFC3339), st.Running, st.Attempt)
	if st.Failed {
		text += fmt.Sprintf(" retry_in=%s", retryIn(st.Attempt))
	}
	return text, nil
}

func retryIn(attempt int) time.Duration {
	return 2 * time.Second << uint(attempt-1)
}
