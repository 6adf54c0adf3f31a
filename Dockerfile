# The image: one static program that runs as a user without rights. "make image" builds it.
#
# Both bases can be replaced, by a mirror or by one's own:
#   make image IMAGE_FLAGS='--build-arg GO_IMAGE=... --build-arg BASE_IMAGE=...'
# The exact Go version is named so that everybody's build gives the same program.
ARG GO_IMAGE=docker.io/library/golang:1.26.8
ARG BASE_IMAGE=gcr.io/distroless/static:nonroot

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
# The modules first: they are fetched again only when these two files change.
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY pkg pkg
ARG VERSION COMMIT TARGETOS TARGETARCH
# As "make build" does it: both give the same file, byte by byte.
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X controller-manager/cmd/controller-manager/app.version=$VERSION -X controller-manager/cmd/controller-manager/app.commit=$COMMIT" \
    -o /controller-manager ./cmd/controller-manager

# The platform is said again because Debian 12's buildah would stay with that of the first stage.
FROM --platform=$TARGETPLATFORM ${BASE_IMAGE}
COPY --from=build /controller-manager /controller-manager
# As numbers, so that the kubelet can tell that it is not root.
USER 65532:65532
ENTRYPOINT ["/controller-manager"]
