package lang

import (
	"crypto/md5" //nolint:gosec // the language has it
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the language has it
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// The hashes of the language.
func hexMD5(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // the language has it
	return hex.EncodeToString(sum[:])
}

func hexSHA1(data []byte) string {
	sum := sha1.Sum(data) //nolint:gosec // the language has it
	return hex.EncodeToString(sum[:])
}

func hexSHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func hexSHA512(data []byte) string {
	sum := sha512.Sum512(data)
	return hex.EncodeToString(sum[:])
}

func base64SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func base64SHA512(data []byte) string {
	sum := sha512.Sum512(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// ofText turns a function of bytes into one of a string.
func ofText(hash func(data []byte) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "str", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(hash([]byte(args[0].AsString()))), nil
		},
	})
}

var base64DecodeFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "str", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		data, err := base64.StdEncoding.DecodeString(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), errors.New("the text is not in base64")
		}
		if !utf8.Valid(data) {
			return cty.UnknownVal(cty.String), errors.New("what the text stands for is not valid UTF-8")
		}
		return cty.StringVal(string(data)), nil
	},
})

// rsaDecryptFunc decrypts PKCS #1 v1.5 cipher text.
var rsaDecryptFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "ciphertext", Type: cty.String}, {Name: "privatekey", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		cipher, err := base64.StdEncoding.DecodeString(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.String), function.NewArgErrorf(0, "the cipher text must be in base64")
		}
		key, err := parseRSAKey([]byte(args[1].AsString()))
		if err != nil {
			return cty.UnknownVal(cty.String), function.NewArgError(1, err)
		}
		plain, err := rsa.DecryptPKCS1v15(nil, key, cipher) //nolint:staticcheck // the language defines the padding
		if err != nil {
			return cty.UnknownVal(cty.String), errors.New("the cipher text was not made for this key")
		}
		return cty.StringVal(string(plain)), nil
	},
})

// parseRSAKey reads a private key in PEM, of PKCS #1 or PKCS #8. Its errors say
// nothing of the key.
func parseRSAKey(text []byte) (*rsa.PrivateKey, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("there is no key in PEM form")
	case block.Headers["Proc-Type"] == "4,ENCRYPTED":
		return nil, errors.New("the key is protected by a password; decrypt it first")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*rsa.PrivateKey)
	if err != nil || !ok {
		return nil, errors.New("it is not the private key of RSA")
	}
	return key, nil
}
