package audit

import (
	"encoding/json"
	"strconv"

	"arbor/internal/web"
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
		Actor: web.OrNil(e.Actor.Login), ActorID: web.OrNil(e.Actor.ID), ActorIP: web.OrNil(e.Actor.Address),
		TokenID: web.OrNil(e.Actor.TokenID), Right: e.Actor.Right, Request: web.OrNil(e.Actor.Request),
		Org: web.OrNil(e.Org.Name), OrgID: web.OrNil(e.Org.ID),
		User: web.OrNil(e.User.Name), UserID: web.OrNil(e.User.ID),
		Repo: web.OrNil(e.Repo.Name), RepoID: web.OrNil(e.Repo.ID), Data: e.Changes, CreatedAt: at}
}

// Place is the cursor of an event.
func (e *Event) Place() Cursor { return Cursor{e.CreatedAt, e.ID} }
