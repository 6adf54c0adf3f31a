package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// reloading is what a set of files says, read again when their contents change. While
// they are being changed and make no sense, what they said before stays in force.
type reloading[T any] struct {
	paths  []string
	parse  func(contents [][]byte) (T, error)
	logger klog.Logger

	mu       sync.Mutex
	contents [][]byte // as last looked at, good or not
	value    T
	problem  string // what was logged last about why the files cannot be used; "" if they can
}

// newReloading reads the files for the first time, when they must make sense.
func newReloading[T any](logger klog.Logger, parse func([][]byte) (T, error), paths ...string) (*reloading[T], error) {
	r := &reloading[T]{paths: paths, parse: parse, logger: logger}
	var err error
	if r.contents, err = readFiles(paths); err != nil {
		return nil, err
	}
	if r.value, err = parse(r.contents); err != nil {
		return nil, fmt.Errorf("reading %s: %w", strings.Join(paths, " and "), err)
	}
	return r, nil
}

// get returns what the files say now. They are small and asked for once a connection, so
// they are read each time; that finds every change, however it was made.
func (r *reloading[T]) get() T {
	r.mu.Lock()
	defer r.mu.Unlock()
	contents, err := readFiles(r.paths)
	if err == nil && slices.EqualFunc(contents, r.contents, bytes.Equal) {
		return r.value
	}
	r.contents = contents // none if a file is not there: then all is read again when it is back
	if err == nil {
		var value T
		if value, err = r.parse(contents); err == nil {
			r.value, r.problem = value, ""
			r.logger.Info("Files have changed, read again", "files", r.paths)
			return value
		}
	}
	if text := err.Error(); text != r.problem { // not with each connection: anybody can open as many as he likes
		r.problem = text
		r.logger.Error(err, "Files have changed and cannot be used, going on with what they said before", "files", r.paths)
	}
	return r.value
}

func readFiles(paths []string) ([][]byte, error) {
	var contents [][]byte
	for _, path := range paths {
		content, err := os.ReadFile(path) //nolint:gosec // the operator names the files
		if err != nil {
			return nil, err
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// parseKeyPair reads a certificate and its private key, in PEM.
func parseKeyPair(contents [][]byte) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	return &pair, err
}

// parsePool reads the certificates of certificate authorities, in PEM.
func parsePool(contents [][]byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(contents[0]) {
		return nil, errors.New("it holds no certificate in PEM")
	}
	return pool, nil
}

// selfSigned makes a certificate for this process, signed by itself. It is for encryption
// only; who wants to know whom he talks to gives one by --tls-cert-file.
func selfSigned(address net.IP) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a private key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("making a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "controller-manager"},
		NotBefore:    time.Now().Add(-time.Hour), // clocks differ
		NotAfter:     time.Now().AddDate(10, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{address, net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
