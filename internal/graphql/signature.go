package graphql

import (
	"context"
	"strings"

	"arbor/internal/account/signkey"
	"arbor/internal/graphql/exec"
	"arbor/internal/signature"
)

// gitSignature is the signature of a commit or tag.
type gitSignature struct {
	kind   string // GpgSignature, SshSignature or UnknownSignature
	fields map[string]any
}

func (s *gitSignature) TypeName() string { return s.kind }

// signatureOf resolves the signature of a commit or tag. by is the member with the committer or tagger.
func signatureOf(by string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, "verification")
		if err != nil || textOf(data, "signature") == "" {
			return nil, err
		}
		who, err := o.inner(ctx, by)
		if err != nil {
			return nil, err
		}
		_, own, err := queryOf(ctx).load.Signatures.PublicKey()
		if err != nil {
			return nil, err
		}
		kind, handle := signature.Describe(textOf(data, "signature"))
		valid := decode(data.get("verified")) == true
		s := &gitSignature{"UnknownSignature", map[string]any{
			"email": textOf(who, "email"), "isValid": valid, "payload": textOf(data, "payload"),
			"signature": textOf(data, "signature"), "state": signatureState(textOf(data, "reason")),
			"verifiedAt": decode(data.get("verified_at")), "wasSignedByGitHub": valid && handle == own}}
		switch {
		case kind == signkey.OpenPGP:
			s.kind, s.fields["keyId"] = "GpgSignature", handle
		case kind == signkey.SSH:
			s.kind, s.fields["keyFingerprint"] = "SshSignature", strings.TrimPrefix(handle, "SHA256:")
		}
		if valid && handle != own { // verified is what the account of the address signed
			signer, err := o.inner(ctx, by+"_account")
			if err != nil {
				return nil, err
			}
			s.fields["signer"] = newAccount(signer)
		}
		return s, nil
	})
}

// signatureState is GitSignatureState's word for a reason of REST.
func signatureState(reason string) string {
	switch signature.Reason(reason) {
	case signature.UnknownType:
		return "UNKNOWN_SIG_TYPE"
	case signature.Malformed:
		return "MALFORMED_SIG"
	}
	return strings.ToUpper(reason)
}

// signatureFields returns the fields of a type of signatures, with those that it alone has.
func signatureFields(more ...string) map[string]exec.Resolver {
	fields := map[string]exec.Resolver{}
	for _, name := range append(more, "email", "isValid", "payload", "signature", "signer", "state", "verifiedAt",
		"wasSignedByGitHub") {
		fields[name] = func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				values[n] = p.(*gitSignature).fields[name]
			}
			return values
		}
	}
	return fields
}
