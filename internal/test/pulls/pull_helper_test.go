package pulls_test

import encoding "encoding/base64"

func pullBase64(s string) string { return encoding.StdEncoding.EncodeToString([]byte(s)) }
