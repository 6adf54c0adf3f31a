package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// Limits on each request. A profile of half a minute still fits.
const (
	maxHeaderBytes = 16 << 10
	maxBodyBytes   = 64 << 10
	headerTimeout  = 5 * time.Second
	readTimeout    = 10 * time.Second
	writeTimeout   = time.Minute
	idleTimeout    = 90 * time.Second
	// hangUpAfter is how long requests under way may take to end when the process ends.
	hangUpAfter = 2 * time.Second
)

// server is the HTTPS port; one that serves nothing has no listener.
type server struct {
	listener net.Listener
	http     *http.Server
	logger   klog.Logger
}

// newServer takes the port, so that a port in use is noticed before anything else starts.
func newServer(
	options *Options, config *rest.Config, registry *prometheus.Registry, health health, logger klog.Logger,
) (*server, error) {
	if options.SecurePort == 0 {
		return &server{}, nil
	}
	authorities, err := clientAuthorities(options, logger)
	if err != nil {
		return nil, err
	}
	secure, err := tlsConfig(options, authorities, logger)
	if err != nil {
		return nil, err
	}
	guard, err := newGuard(options, config)
	if err != nil {
		return nil, err
	}
	if authorities != nil {
		guard.verify = func(shown []*x509.Certificate) error { return signedBy(shown, authorities.get()) }
	}
	address := net.JoinHostPort(options.BindAddress, strconv.Itoa(options.SecurePort))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("taking the port to serve on (--bind-address, --secure-port; 0 serves nothing): %w", err)
	}
	handler := guard.protect(pages(options, registry, health, logger))
	return &server{
		listener: listener,
		logger:   logger,
		http: &http.Server{
			Handler:           http.MaxBytesHandler(handler, maxBodyBytes),
			TLSConfig:         secure,
			MaxHeaderBytes:    maxHeaderBytes,
			ReadHeaderTimeout: headerTimeout,
			ReadTimeout:       readTimeout,
			WriteTimeout:      writeTimeout,
			IdleTimeout:       idleTimeout,
			ErrorLog:          standardLog(logger),
		},
	}, nil
}

// run serves until the function is called that it returns.
func (s *server) run(ctx context.Context) (stop func()) {
	if s.listener == nil {
		return func() {}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.logger.Info("Serving health and metrics", "address", s.listener.Addr().String())
		if err := s.http.ServeTLS(s.listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			s.logger.Error(err, "Serving has ended")
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpAfter)
		defer cancel()
		if err := s.http.Shutdown(ctx); err != nil {
			_ = s.http.Close() // who was served until now is cut off
		}
		<-ended
	}
}

// tlsConfig returns with which certificate to serve, and whose certificates to ask for.
func tlsConfig(options *Options, authorities *reloading[*x509.CertPool], logger klog.Logger) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if options.TLSCertFile == "" {
		certificate, err := selfSigned(net.ParseIP(options.BindAddress))
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{*certificate}
	} else {
		pair, err := newReloading(logger, parseKeyPair, options.TLSCertFile, options.TLSPrivateKeyFile)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w", err)
		}
		config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil }
	}
	if authorities != nil {
		config.ClientAuth = tls.RequestClientCert // the guard verifies it, with each request
		base := config.Clone()
		config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			current := base.Clone()
			current.ClientCAs = authorities.get()
			return current, nil
		}
	}
	return config, nil
}

// clientAuthorities returns whose client certificates are good; nil: nobody's.
func clientAuthorities(options *Options, logger klog.Logger) (*reloading[*x509.CertPool], error) {
	if options.ClientCAFile == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	authorities, err := newReloading(logger, parsePool, options.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("--client-ca-file: %w", err)
	}
	return authorities, nil
}

// signedBy returns nil if a client certificate, the first of those shown, is signed by one of
// the authorities and has not expired.
func signedBy(shown []*x509.Certificate, authorities *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, certificate := range shown[1:] {
		between.AddCert(certificate)
	}
	_, err := shown[0].Verify(x509.VerifyOptions{
		Roots: authorities, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

// standardLog is for libraries that log the standard library's way. What they have to say,
// such as each handshake that failed, is of use only in the detailed log.
func standardLog(logger klog.Logger) *log.Logger {
	return log.New(logWriter{logger}, "", 0)
}

type logWriter struct{ logger klog.Logger }

// Write logs one line.
func (w logWriter) Write(line []byte) (int, error) {
	w.logger.V(4).Info("HTTP server", "message", strings.TrimSpace(string(line)))
	return len(line), nil
}
