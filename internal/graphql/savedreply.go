package graphql

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/account/savedreply"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/scope"
)

// replies returns the caller's saved replies, which a query reads once. Error: 403 for a token that does not suffice.
func (q *query) replies(ctx context.Context) ([]savedreply.Reply, error) {
	const key = "saved replies"
	k, known := q.kept[key]
	if !known {
		k.value, k.err = q.readReplies(ctx)
		q.kept[key] = k
	}
	list, _ := k.value.([]savedreply.Reply)
	return list, k.err
}

func (q *query) readReplies(ctx context.Context) ([]savedreply.Reply, error) {
	ctx, caller, err := q.on(ctx, "GET /user")
	if err == nil {
		err = caller.Allows(scope.User, false)
	}
	if err != nil {
		return nil, err
	}
	list, err := q.load.Replies.List(ctx, caller)
	return list, q.noteError(err)
}

func newReply(r savedreply.Reply, by any) *object {
	of, _ := by.(*object)
	return &object{kind: "SavedReply", value: r, whole: true, id: int64(r.ID), of: of}
}

// savedReplies resolves the saved replies of the caller; null for other users.
func savedReplies(ctx context.Context, f *exec.Field, o *object) (any, error) {
	if o.name != viewer(ctx).Login {
		return nil, nil
	}
	list, err := queryOf(ctx).replies(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(list))
	for n, r := range list {
		all[n] = newReply(r, o)
	}
	if _, desc, err := orderBy(f, map[string]string{"UPDATED_AT": "updated"}); err != nil {
		return nil, err
	} else if !desc {
		slices.Reverse(all)
	}
	return connectAll(f, "SavedReplyConnection", all)
}

// findReplies finds saved replies by their node ids, those of others not.
func (q *query) findReplies(ctx context.Context, ids []nodeID) []lookup {
	list, err := q.replies(ctx)
	if err != nil {
		if errs.Is(err, errs.Forbidden) {
			err = errs.Absent()
		}
		return failures(err, len(ids))
	}
	me, err := viewerAccount(ctx, nil)
	if err != nil {
		return failures(err, len(ids))
	}
	found := make([]lookup, len(ids))
	for n, id := range ids {
		at := slices.IndexFunc(list, func(r savedreply.Reply) bool { return int64(r.ID) == id.number })
		if at >= 0 {
			found[n].value = newReply(list[at], me)
		}
	}
	return found
}

func savedReplyFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id":         key(func(o *object) any { return account.NodeID("SavedReply", o.id) }),
		"databaseId": key(func(o *object) any { return o.id }),
		"title":      pick(func(r savedreply.Reply) any { return r.Title }),
		"body":       pick(func(r savedreply.Reply) any { return r.Body }),
		"bodyHTML": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return queryOf(ctx).load.Markups.HTML(ctx, viewer(ctx), o.value.(savedreply.Reply).Body, "", false)
		}),
		"user": parent,
	}
}
