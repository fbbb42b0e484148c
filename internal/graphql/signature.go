package graphql

import (
	"context"
	"strings"

	"arbor/internal/account/signkey"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/signature"
)

// commitSignature resolves the signature of a commit, null without one.
func commitSignature(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	c := o.value.(*gitdata.CommitPayload)
	v := c.Commit.Verification
	if v.Signature == nil {
		return nil, nil
	}
	_, own, err := queryOf(ctx).load.Signatures.PublicKey()
	if err != nil {
		return nil, err
	}
	kind, handle := signature.Describe(*v.Signature)
	s := bare{"UnknownSignature", map[string]any{
		"email": c.Commit.Committer.Email, "isValid": v.Verified, "payload": deref(v.Payload),
		"signature": *v.Signature, "state": signatureState(v.Reason), "verifiedAt": deref(v.VerifiedAt),
		"wasSignedByGitHub": v.Verified && handle == own}}
	switch kind {
	case signkey.OpenPGP:
		s.kind, s.fields["keyId"] = "GpgSignature", handle
	case signkey.SSH:
		s.kind, s.fields["keyFingerprint"] = "SshSignature", strings.TrimPrefix(handle, "SHA256:")
	}
	if v.Verified && handle != own { // verified is what the account of the address signed
		s.fields["signer"] = userOf(c.Committer)
	}
	return s, nil
}

// signatureState is GitSignatureState's word for a reason of REST.
func signatureState(reason signature.Reason) string {
	switch reason {
	case signature.UnknownType:
		return "UNKNOWN_SIG_TYPE"
	case signature.Malformed:
		return "MALFORMED_SIG"
	}
	return strings.ToUpper(string(reason))
}
