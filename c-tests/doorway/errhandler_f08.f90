! Error handlers of files from the module mpi_f08, with and without the optional ierror.
module seen
  use mpi_f08
  implicit none
  integer :: calls = 0, called_code = -1, errors = 0
  type(MPI_File) :: called_with
contains
  subroutine handler(fh, code)
    type(MPI_File) :: fh
    integer :: code
    calls = calls + 1
    called_with = fh
    called_code = code
  end subroutine

  subroutine check(condition, text)
    logical, intent(in) :: condition
    character(*), intent(in) :: text
    if (condition) return
    errors = errors + 1
    print *, 'failed: ', text
  end subroutine
end module

program main
  use mpi_f08
  use seen
  implicit none
  type(MPI_File) :: fh
  type(MPI_Errhandler) :: errhandler, got
  type(MPI_Request) :: request
  integer :: code, class, rank, total, number

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_File_open(MPI_COMM_WORLD, 'doorway_f08.dat', MPI_MODE_CREATE + MPI_MODE_RDWR, &
                     MPI_INFO_NULL, fh, code)
  call check(code == MPI_SUCCESS, 'open')
  call MPI_File_get_errhandler(fh, got)
  call check(got == MPI_ERRORS_RETURN, 'default handler')

  call MPI_File_create_errhandler(handler, errhandler)
  call MPI_File_set_errhandler(fh, errhandler, code)
  call check(code == MPI_SUCCESS, 'set')
  call MPI_File_get_errhandler(fh, got)
  call check(got == errhandler, 'get')
  call MPI_Errhandler_free(got)
  call MPI_Errhandler_free(errhandler)

  call MPI_File_seek(fh, 0_MPI_OFFSET_KIND, 12345, code)
  call MPI_Error_class(code, class)
  call check(class == MPI_ERR_ARG, 'class of seek')
  call check(calls == 1 .and. called_with == fh .and. called_code == code, 'called')
  call MPI_File_call_errhandler(fh, MPI_ERR_NO_SPACE, code)
  call check(code == MPI_SUCCESS .and. calls == 2 .and. called_code == MPI_ERR_NO_SPACE, 'called by name')

  number = 4
  call MPI_File_iwrite_at(fh, 0_MPI_OFFSET_KIND, number, 1, MPI_INTEGER, request, code)
  call check(code == MPI_SUCCESS, 'iwrite_at')
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(request == MPI_REQUEST_NULL, 'wait')
  call MPI_File_iwrite_at(fh, 0_MPI_OFFSET_KIND, number, -1, MPI_INTEGER, request, code)
  call check(calls == 3 .and. called_code == code, 'called for a nonblocking routine')
  call check(request == MPI_REQUEST_NULL, 'no request')

  call MPI_File_close(fh, code)
  call check(code == MPI_SUCCESS .and. fh == MPI_FILE_NULL, 'close')
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == 0) call MPI_File_delete('doorway_f08.dat', MPI_INFO_NULL)
  call MPI_Allreduce(errors, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. total == 0) print '(a)', 'No Errors'
  call MPI_Finalize()
  if (total /= 0) stop 1
end program
