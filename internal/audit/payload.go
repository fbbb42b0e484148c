package audit

import (
	"encoding/json"
	"strconv"
)

// Payload is an event as GitHub's audit log shows one; data, right and request_id are ours.
// Times are in milliseconds since 1970.
type Payload struct {
	Timestamp  int64           `json:"@timestamp"`
	DocumentID string          `json:"_document_id"`
	Action     Action          `json:"action"`
	Actor      *string         `json:"actor"`
	ActorID    *int64          `json:"actor_id"`
	ActorIP    *string         `json:"actor_ip"`
	TokenID    *int64          `json:"token_id"`
	Right      string          `json:"right"`
	Request    *string         `json:"request_id"`
	Org        *string         `json:"org"`
	OrgID      *int64          `json:"org_id"`
	User       *string         `json:"user"`
	UserID     *int64          `json:"user_id"`
	Repo       *string         `json:"repo"`
	RepoID     *int64          `json:"repo_id"`
	Data       json.RawMessage `json:"data"`
	CreatedAt  int64           `json:"created_at"`
}

// NewPayload renders an event.
func NewPayload(e *Event) Payload {
	at := e.CreatedAt.Time().UnixMilli()
	return Payload{Timestamp: at, DocumentID: strconv.FormatInt(e.ID, 10), Action: e.Action,
		Actor: given(e.Actor.Login), ActorID: given(e.Actor.ID), ActorIP: given(e.Actor.Address),
		TokenID: given(e.Actor.TokenID), Right: e.Actor.Right, Request: given(e.Actor.Request),
		Org: given(e.Org.Name), OrgID: given(e.Org.ID), User: given(e.User.Name), UserID: given(e.User.ID),
		Repo: given(e.Repo.Name), RepoID: given(e.Repo.ID), Data: e.Changes, CreatedAt: at}
}

// given is nil for what an event does not have.
func given[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

// Place is the cursor of an event.
func (e *Event) Place() Cursor { return Cursor{e.CreatedAt, e.ID} }
