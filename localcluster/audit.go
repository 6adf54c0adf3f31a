package localcluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// auditPolicy logs who asked for what and how it was answered, without the
// objects, once per request: when the answer is complete. A watch is logged when
// it ends.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

func (c *Cluster) writeAuditPolicy() error {
	if err := os.WriteFile(c.layout.auditPolicy(), []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return nil
}

// AuditLog reads the API server's audit log.
type AuditLog struct {
	path string
}

// AuditMark is a place in the audit log.
type AuditMark int64

// AuditEntry is a request that the API server has answered.
type AuditEntry struct {
	// User is the user's name, as authenticated; for an impersonated request, the
	// one who impersonates.
	User string
	// UserAgent is how the client names itself.
	UserAgent string
	// Verb is a verb of the Kubernetes API: get, list, watch, create, update,
	// patch, delete, deletecollection; or the HTTP method in lower case.
	Verb string
	// Group, Resource, Subresource, Namespace and Name say what was asked for.
	// All are empty for a request such as /healthz. Name may be empty on create.
	Group, Resource, Subresource, Namespace, Name string
	// RequestURI is the path and query of the request.
	RequestURI string
	// Code is the HTTP status of the answer.
	Code int
	// Received and Completed are the times of the request and of the end of the
	// answer, by the API server's clock.
	Received, Completed time.Time
}

// IsWrite says whether the request asked for a change.
func (e AuditEntry) IsWrite() bool {
	switch e.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	default:
		return false
	}
}

// Mark is the present end of the log.
func (l AuditLog) Mark() (AuditMark, error) {
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("reading the size of the audit log: %w", err)
	}
	return AuditMark(info.Size()), nil
}

// Since returns the requests logged after the mark, in the log's order. The line
// of a request may be written a moment after its answer was sent: wait for the
// lines that must come, and count what must not come once they are there.
func (l AuditLog) Since(mark AuditMark) ([]AuditEntry, error) {
	file, err := os.Open(l.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil // nothing has been asked yet
	case err != nil:
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if _, err := file.Seek(int64(mark), io.SeekStart); err != nil {
		return nil, fmt.Errorf("going to the mark in the audit log: %w", err)
	}
	return readAudit(file)
}

// readAudit reads whole lines; one that is still being written is left out.
func readAudit(log io.Reader) ([]AuditEntry, error) {
	var entries []AuditEntry
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		entry, err := parseAudit(line)
		if err != nil {
			return nil, err
		}
		if entry != nil {
			entries = append(entries, *entry)
		}
	}
}

// auditEvent is the part we read of the type Event in audit.k8s.io/v1.
type auditEvent struct {
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestReceivedTimestamp time.Time `json:"requestReceivedTimestamp"`
	StageTimestamp           time.Time `json:"stageTimestamp"`
}

// parseAudit returns nil for a line that is not about a completed answer.
func parseAudit(line []byte) (*AuditEntry, error) {
	var event auditEvent
	if err := json.Unmarshal(line, &event); err != nil {
		return nil, fmt.Errorf("reading the audit line %q: %w", bytes.TrimSpace(line), err)
	}
	if event.Stage != "ResponseComplete" {
		return nil, nil
	}
	return &AuditEntry{
		User:        event.User.Username,
		UserAgent:   event.UserAgent,
		Verb:        event.Verb,
		Group:       event.ObjectRef.APIGroup,
		Resource:    event.ObjectRef.Resource,
		Subresource: event.ObjectRef.Subresource,
		Namespace:   event.ObjectRef.Namespace,
		Name:        event.ObjectRef.Name,
		RequestURI:  event.RequestURI,
		Code:        event.ResponseStatus.Code,
		Received:    event.RequestReceivedTimestamp,
		Completed:   event.StageTimestamp,
	}, nil
}
