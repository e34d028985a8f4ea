// Package journal keeps the outcome of every run in a file of JSON lines.
package journal

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Record is one line of the journal.
type Record struct {
	Job         string    `json:"job"`
	ScheduledAt time.Time `json:"scheduled_at"`
	StartedAt   time.Time `json:"started_at"`
	FinishedAt  time.Time `json:"finished_at"`
	Attempt     int       `json:"attempt"`
	Exit        int       `json:"exit"`
	Output      string    `json:"output,omitempty"`
}

// Journal appends records and answers questions about past ones.
type Journal struct {
	file    *os.File
	records []Record
}

// Open reads the journal at path, creating it when absent.
func Open(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{file: file}
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		var record Record
		if err := json.Unmarshal(scanner.Bytes(), &record); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		j.records = append(j.records, record)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// Append writes one record.
func (j *Journal) Append(record Record) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	j.records = append(j.records, record)
	return nil
}

// LastScheduled returns the latest time for which the job was run, whatever came of it.
func (j *Journal) LastScheduled(job string) (time.Time, bool) {
	var last time.Time
	for _, record := range j.records {
		if record.Job == job && record.ScheduledAt.After(last) {
			last = record.ScheduledAt
		}
	}
	return last, !last.IsZero()
}

// Close ends writing.
func (j *Journal) Close() error { return j.file.Close() }
