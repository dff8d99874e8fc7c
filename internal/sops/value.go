package sops

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"hash"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// opener decrypts the values of a tree in place and sums up their MAC.
type opener struct {
	block cipher.Block
	rule  *rule
	hash  hash.Hash
}

func newOpener(key []byte, r *rule) (*opener, error) {
	block, err := aes.NewCipher(key)
	if err != nil || len(key) != 32 {
		return nil, fmt.Errorf("%w: its data key has %d bytes", ErrMalformed, len(key))
	}
	o := newMAC(r)
	o.block = block
	return o, nil
}

// branch opens what is below a mapping. path holds names only: items of a list have none.
func (o *opener) branch(items []item, path []string) error {
	for i := range items {
		below := append(path[:len(path):len(path)], items[i].name)
		val, err := o.value(items[i].value, below)
		if err != nil {
			return err
		}
		items[i].value = val
	}
	return nil
}

func (o *opener) value(val any, path []string) (any, error) {
	switch val := val.(type) {
	case nil:
		return nil, nil
	case []item:
		return val, o.branch(val, path)
	case []any:
		for i := range val {
			opened, err := o.value(val[i], path)
			if err != nil {
				return nil, err
			}
			val[i] = opened
		}
		return val, nil
	}
	return o.leaf(val, path)
}

func (o *opener) leaf(val any, path []string) (any, error) {
	encrypted := o.rule.encrypts(path)
	if encrypted {
		text, ok := val.(string)
		if !ok {
			return nil, fmt.Errorf("%w: the value at %s should be encrypted and is not", ErrMalformed, where(path))
		}
		var err error
		if val, err = o.text(text, strings.Join(path, ":")+":"); err != nil {
			return nil, fmt.Errorf("%w: the value at %s does not open: %w", ErrMalformed, where(path), err)
		}
	}
	if encrypted || !o.rule.macOnlyEncrypted {
		text, err := macText(val)
		if err != nil {
			return nil, fmt.Errorf("%w: the value at %s: %w", ErrUnsupported, where(path), err)
		}
		o.hash.Write([]byte(text))
	}
	return val, nil
}

func where(path []string) string { return strconv.Quote(strings.Join(path, ".")) }

// macText is a value as it is summed up.
func macText(val any) (string, error) {
	switch val := val.(type) {
	case string:
		return val, nil
	case int:
		return strconv.Itoa(val), nil
	case float64:
		return strconv.FormatFloat(val, 'f', -1, 64), nil
	case bool:
		if val {
			return "True", nil
		}
		return "False", nil
	case time.Time:
		text, err := val.MarshalText()
		return string(text), err
	}
	return "", fmt.Errorf("values of type %T", val)
}

// encoded is how a value is written. The data may be empty only where nothing is encrypted.
var encoded = regexp.MustCompile(`^ENC\[AES256_GCM,data:([A-Za-z0-9+/=]+),iv:([A-Za-z0-9+/=]+),tag:([A-Za-z0-9+/=]+),type:([a-z]+)\]$`)

// text decrypts one value. The context is the value's place.
func (o *opener) text(text, context string) (any, error) {
	if text == "" {
		return "", nil
	}
	match := encoded.FindStringSubmatch(text)
	if match == nil {
		return nil, fmt.Errorf("it is not encrypted")
	}
	var parts [3][]byte
	for i := range parts {
		var err error
		if parts[i], err = base64.StdEncoding.DecodeString(match[i+1]); err != nil || len(parts[i]) == 0 {
			return nil, fmt.Errorf("it is not in base64")
		}
	}
	data, iv, tag := parts[0], parts[1], parts[2]
	gcm, err := cipher.NewGCMWithNonceSize(o.block, len(iv))
	if err != nil || len(tag) != gcm.Overhead() {
		return nil, fmt.Errorf("it is damaged")
	}
	opened, err := gcm.Open(nil, iv, append(data, tag...), []byte(context))
	if err != nil {
		return nil, fmt.Errorf("it was changed, moved or encrypted with another key")
	}
	return typed(string(opened), match[4])
}

// typed gives a decrypted value its type.
func typed(text, kind string) (val any, err error) {
	switch kind {
	case "str", "bytes":
		return text, nil
	case "int":
		val, err = strconv.Atoi(text)
	case "float":
		val, err = strconv.ParseFloat(text, 64)
	case "bool":
		val, err = strconv.ParseBool(text)
	case "time":
		var at time.Time
		err = at.UnmarshalText([]byte(text))
		val = at
	default:
		return nil, fmt.Errorf("its type is not known")
	}
	if err != nil {
		return nil, fmt.Errorf("it is not of its type")
	}
	return val, nil
}
