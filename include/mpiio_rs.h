/* mpiio-rs: what a program may ask of the library beyond MPI. Made by cbindgen: do not edit.
 *
 * A program that must also run without the library declares the functions weak:
 *     #pragma weak mpiio_rs_version
 *     if (mpiio_rs_version) puts(mpiio_rs_version());
 */

#ifndef MPIIO_RS_H
#define MPIIO_RS_H

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Version of this library, such as "0.1.0". The string lives as long as the process.
 */
const char *mpiio_rs_version(void);

/*
 1 if MPI_File_* calls of this process are served by this library, 0 if another library answers
 them. A tool that is loaded first and passes calls on, as Darshan does, leaves it at 1.
 */
int mpiio_rs_active(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MPIIO_RS_H */
