// Package job describes jobs and reads the job file.
package job

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"time"

	"cadence/internal/cron"
)

// Policies for runs missed while the daemon was down.
const (
	CatchUpNone = "none"
	CatchUpLast = "last"
	CatchUpAll  = "all"
)

const (
	defaultSeconds = 3600
	maxRetries     = 20
)

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// Job is one entry of the job file.
type Job struct {
	Name     string `json:"name"`
	Schedule string `json:"schedule"`
	Command  string `json:"command"`
	Seconds  int    `json:"timeout_seconds"`
	Retries  int    `json:"retries"`
	CatchUp  string `json:"catch_up"`

	Cron cron.Schedule `json:"-"`
}

// Prepare fills the defaults, parses the schedule and checks every field.
func (j *Job) Prepare() error {
	if !nameForm.MatchString(j.Name) {
		return fmt.Errorf("job %q: bad name", j.Name)
	}
	if j.Command == "" {
		return fmt.Errorf("job %s: no command", j.Name)
	}
	if j.Retries < 0 || j.Retries > maxRetries {
		return fmt.Errorf("job %s: retries must be 0 to %d", j.Name, maxRetries)
	}
	if j.Seconds == 0 {
		j.Seconds = defaultSeconds
	}
	switch j.CatchUp {
	case "":
		j.CatchUp = CatchUpNone
	case CatchUpNone, CatchUpLast, CatchUpAll:
	default:
		return fmt.Errorf("job %s: unknown catch_up %q", j.Name, j.CatchUp)
	}
	schedule, err := cron.Parse(j.Schedule)
	if err != nil {
		return fmt.Errorf("job %s: %w", j.Name, err)
	}
	j.Cron = schedule
	return nil
}

// Timeout is how long one attempt may take.
func (j Job) Timeout() time.Duration { return time.Duration(j.Seconds) * time.Second }

// Load reads and prepares all jobs of a file.
func Load(path string) ([]Job, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		Jobs []Job `json:"jobs"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range file.Jobs {
		if err := file.Jobs[i].Prepare(); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return file.Jobs, nil
}
