// Package hook sends events to other programs: webhooks of repositories, organizations and Apps.
//
//	hook.go          hooks and their rules
//	events.go        the names of events
//	record.go        Record: what happens is noted in its own transaction, a row for each hook
//	tell.go          at its end what payloads need is rendered; where nobody watches, nothing is noted
//	app.go           the hooks of GitHub Apps
//	edit.go          hooks are made, changed and removed; owner.go: what they belong to; delivery.go: what was
//	                 sent, and sending it again
//	store.go         the SQL of hooks, storedelivery.go of deliveries, storequeue.go of the worker
//	api.go           the handlers: GET, POST /repos/{owner}/{repo}/hooks, /orgs/{org}/hooks, ..., /app/hook/config
//	apidelivery.go   those of deliveries: lists, single ones, another attempt
//	dispatch.go      POST /repos/{owner}/{repo}/dispatches
//	payload.go       their JSON
//	sender.go        the worker: which hook's turn it is
//	turn.go          one hook's turn: its deliveries, one after the other
//	request.go       the request that a delivery is: headers, signatures
//	past.go          hooks that an import brings
//	prune.go         removes old deliveries
//	outgoing         the network: which addresses, how long, how much
//	payloads         above all features: the payloads of deliveries
//
// A delivery shows the state at its event. It begins as a row that names what it tells of. At the end of
// the same transaction the [Renderer] writes what the payload needs of the database, once for all hooks
// (hook_told), as the API shows things to a user with push access to this repository and otherwise only
// public access. So a receiver that is down gets the truth of then. When the delivery is sent, rights are
// asked, addresses are put in, and what git knows of the objects that it names is read. The bytes are kept,
// so a redelivery sends the same, unless they name what is hidden since then.
//
// A row that has nothing in hook_told shows things as they are when it is sent: nodes of the version before
// write such rows, payloads beyond a bound leave them, and a purge or the end of an account takes them
// away.
//
// A hook belongs to its repository or organization, not to its creator. Its deliveries are sent in their
// order, by one worker at a time, which leases the hook (db.Jobs). One that fails is tried again later, for a
// day, and others may overtake it then. A hook that fails again and again rests between attempts, up to
// five minutes, so a dead receiver costs little however much waits for it; one that has failed for three days
// is switched off.
package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Resource is the name of hooks in validation errors (decision 15).
const Resource = "Hook"

// Bounds.
const (
	MaxHooks  = 20   // of one repository or organization
	maxURL    = 2048 // characters
	maxSecret = 1024 // characters
)

// Hook is a row of the table hooks.
type Hook struct {
	ID           int64
	RepoID       repo.ID       // 0: it is not a repository's
	OrgID        account.ID    // 0: it is not an organization's
	AppID        account.AppID // of a GitHub App, which has one hook; else 0
	URL          string
	Form         bool    // the body is a form
	Secret       *string // never shown
	Insecure     bool    // the certificate is not looked at
	Active       bool
	Events       []string
	Salt         string
	Site, Prefix string // where addresses in payloads begin
	LastCode     *int64
	LastStatus   string
	LastMessage  *string
	Failures     int64   // attempts since one succeeded
	FailingSince db.Time // zero: it does not
	CreatedAt    db.Time
	UpdatedAt    db.Time
}

// ownerKey is what a hook belongs to: a repository, an organization or an App.
type ownerKey struct {
	repo repo.ID
	org  account.ID
	app  account.AppID
}

func (h *Hook) place() ownerKey { return ownerKey{h.RepoID, h.OrgID, h.AppID} }

// hidden replaces a secret in responses. If it is sent back, the secret is kept.
const hidden = "********"

// ContentType is the word for the form of bodies.
func (h *Hook) ContentType() string {
	if h.Form {
		return "form"
	}
	return "json"
}

// wants reports whether the hook subscribes to an event.
func (h *Hook) wants(event string) bool {
	for _, e := range h.Events {
		if e == event || e == All {
			return true
		}
	}
	return false
}

// guid names a delivery for its receiver: a UUID that stays the same whenever it is sent.
func (h *Hook) guid(delivery int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", h.Salt, delivery))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80 // version 8: of one's own making
	s := hex.EncodeToString(sum[:16])
	return strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")
}

// How deliveries are tried.
const (
	giveUp    = 24 * time.Hour     // a delivery that has failed for so long failed for good
	switchOff = 3 * 24 * time.Hour // a hook that has failed for so long is switched off
	leastOff  = 10                 // after so many attempts at least
	maxRest   = 5 * time.Minute    // of a hook between attempts, while they fail
	keepFor   = 3 * 24 * time.Hour // deliveries that were tried
	maxKept   = 1000               // of each hook
	maxBytes  = 32 << 20           // of their payloads and answers together; as much of those that wait
	maxOwned  = 128 << 20          // the same of all hooks of one owner
	maxQueue  = 50_000             // deliveries of a hook that wait; the oldest go
	maxByHand = 1000               // waiting for a hook before it refuses further dispatches
)

// pauses are the times until a delivery that failed is tried again; the last one counts from then on.
var pauses = [...]time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour}

// pause is the time until a delivery that has failed so many times is tried again.
func pause(tries int64) time.Duration { return pauses[min(max(tries, 1), int64(len(pauses)))-1] }

// rest is how long a hook rests after so many attempts in a row have failed.
func rest(failures int64) time.Duration {
	if failures < 2 {
		return 0
	}
	return min(time.Second<<min(failures-2, 20), maxRest)
}
