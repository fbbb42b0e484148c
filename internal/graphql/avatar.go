package graphql

import (
	"context"
	"hash/crc32"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// strangers is where the numbers of pictures of people without an account begin: above the ids of all accounts.
const strangers = 1 << 40

// gitActorFields are the fields of authors, committers and taggers, whose values are computed but for their pictures.
func gitActorFields() map[string]exec.Resolver {
	fields := map[string]exec.Resolver{"avatarUrl": actorAvatar}
	for _, name := range [...]string{"name", "email", "date", "user"} {
		fields[name] = each(func(b bare) any { return leaf(b.fields[name]) })
	}
	return fields
}

// actorAvatar resolves the picture of the author of a commit: that of the account, or else one that the address has.
// Pictures have one size, and a client scales them.
func actorAvatar(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		fields := p.(bare).fields
		email, _ := fields["email"].(string)
		values[n] = web.From(ctx).Page("/avatars/" + decimal(strangers+int64(crc32.ChecksumIEEE([]byte(email)))))
		if o, ok := fields["user"].(*object); ok {
			if a, ok := o.value.(*account.Simple); ok {
				values[n] = a.AvatarURL
			}
		}
	}
	return values
}
